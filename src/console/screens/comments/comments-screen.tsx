import { type ReactNode, useState } from 'react';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import type { CommentAction, ConsoleComment } from '../../../contract/console/records.ts';
import * as paths from '../../../contract/paths.ts';
import { formatQuantity } from '../../../contract/text.ts';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { type Pages, usePages } from '../../api/pages.ts';
import { setQuery, useConsoleLocation } from '../../location.ts';
import { ReasonDialog } from '../../ui/form-dialog.tsx';
import { type Deselect, List } from '../../ui/list.tsx';
import { FilterTag, Page, Segments } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { type RowState, SelectBox } from '../../ui/selection.tsx';
import { Empty } from '../../ui/states.tsx';
import { useModerate } from './moderate.ts';

const STATES = [
  ['all', 'All'],
  ['public', 'Public'],
  ['held', 'Held'],
  ['hidden', 'Hidden'],
] as const;

export function CommentsScreen() {
  const { query } = useConsoleLocation();
  const text = query.get('q') ?? '';
  const state = STATES.find(([each]) => each === query.get('state'))?.[0] ?? 'all';
  const product = query.get('product') ?? undefined;
  const pages = usePages<ConsoleComment>('comments', CONSOLE_API.comments, { text: text || undefined, state, product });
  const isNarrowed = text !== '' || state !== 'all' || product !== undefined;

  return (
    <Page
      title="Comments"
      toolbar={
        <>
          <SearchField label="Search comments" value={text} onChange={(q) => setQuery({ q })} />
          <Segments
            label="State"
            value={state}
            options={STATES}
            onChange={(next) => setQuery({ state: next === 'all' ? undefined : next })}
          />
          {product && <FilterTag parameter="product" value={product} effect="show comments on all products" />}
        </>
      }
    >
      <CommentList
        label="Comments"
        pages={pages}
        empty={
          <Empty title={isNarrowed ? 'No comment matches' : 'No comments yet'}>
            <p>{isNarrowed ? 'Try another word or state.' : 'New comments appear here at once.'}</p>
          </Empty>
        }
      />
    </Page>
  );
}

interface CommentListProps {
  label: string;
  pages: Pages<ConsoleComment>;
  empty: ReactNode;
}

interface OpenDialog {
  comments: readonly ConsoleComment[];
  deselect: Deselect<ConsoleComment>;
}

/**
 * Lists comments for moderation, individually or in bulk. The key A releases or restores, and D hides, with an optional
 * reason.
 */
export function CommentList({ label, pages, empty }: CommentListProps) {
  const moderate = useModerate();
  const [openDialog, setOpenDialog] = useState<OpenDialog>();
  const hiding = openDialog?.comments;

  /** Applies each action to the comments that allow it. Hiding first opens a dialog that asks for the reason. */
  function act(
    actions: readonly CommentAction[],
    comments: readonly ConsoleComment[],
    deselect: Deselect<ConsoleComment>,
  ): void {
    const changes = actions
      .map((action) => ({ action, comments: comments.filter((comment) => actionsOf(comment).includes(action)) }))
      .filter((change) => change.comments.length > 0);
    const toHide = changes.find(({ action }) => action === 'hide');
    if (toHide) setOpenDialog({ comments: toHide.comments, deselect });
    else if (changes.length > 0) void moderate(changes, deselect);
  }

  const only = hiding?.length === 1 ? hiding[0] : undefined;
  return (
    <>
      <List
        label={label}
        pages={pages}
        keyOf={({ id }) => id}
        estimatePx={104}
        empty={empty}
        keys={{
          a: (comments, deselect) => act(['release', 'restore'], comments, deselect),
          d: (comments, deselect) => act(['hide'], comments, deselect),
        }}
        renderRow={(comment, state, deselect) => (
          <CommentRow comment={comment} state={state} onAct={(action) => act([action], [comment], deselect)} />
        )}
        renderBar={(comments, deselect) =>
          (['release', 'restore', 'hold', 'hide'] as const)
            .filter((action) => comments.some((comment) => actionsOf(comment).includes(action)))
            .map((action) => (
              <button
                key={action}
                type="button"
                className="button"
                data-tone="outline"
                onClick={() => act([action], comments, deselect)}
              >
                {ACTION_LABELS[action]}
              </button>
            ))
        }
      />
      {hiding && (
        <ReasonDialog
          title={only ? 'Hide this comment' : `Hide ${hiding.length} comments`}
          ids={hiding.map(({ id }) => id)}
          note={only ? <HidingNote comment={only} /> : 'No visitor will see them, not even their authors.'}
          suggestions={['Spam', 'Off topic', 'Insult', 'Personal data']}
          label="Hide"
          onClose={() => setOpenDialog(undefined)}
          onSubmit={(reason) => moderate([{ action: 'hide', comments: hiding }], openDialog.deselect, reason)}
        />
      )}
    </>
  );
}

/** The maximum number of characters of a comment that the dialog shows. */
const MAX_EXCERPT_CHARACTERS = 200;

function HidingNote({ comment: { content, authorName } }: { comment: ConsoleComment }) {
  const characters = [...content];
  const excerpt = characters.slice(0, MAX_EXCERPT_CHARACTERS).join('');
  return (
    <>
      <q dir="auto">{characters.length > MAX_EXCERPT_CHARACTERS ? `${excerpt} …` : excerpt}</q> by{' '}
      <bdi>{authorName}</bdi>. No visitor will see it, not even its author.
    </>
  );
}

interface RowProps {
  comment: ConsoleComment;
  state: RowState;
  onAct: (action: CommentAction) => void;
}

/** Returns the actions that a comment allows, in the order of its buttons. */
function actionsOf({ held, hidden }: ConsoleComment): CommentAction[] {
  if (hidden !== null) return ['restore'];
  return held ? ['release', 'hide'] : ['hold', 'hide'];
}

const ACTION_LABELS: Record<CommentAction, string> = {
  hide: 'Hide',
  restore: 'Restore',
  hold: 'Hold',
  release: 'Release',
};

function CommentRow({ comment, state, onAct }: RowProps) {
  const { id, authorName, authorBadge, content, productId, productName, likes, createdAt, held, hidden } = comment;
  return (
    <div className="row">
      <SelectBox name={`the comment on ${productName}`} state={state} />
      <div className="row-body">
        <p className="row-meta">
          <strong dir="auto">{authorName}</strong>
          {authorBadge && <span className="badge">{authorBadge}</span>}
          <span>
            on{' '}
            <a href={paths.productComments(productId)} dir="auto">
              {productName}
            </a>
          </span>
          <TimeAgo time={createdAt} />
          {likes > 0 && <span>{formatQuantity(likes, 'like')}</span>}
          {held && (
            <span className="tag" data-tone="waiting">
              Held
            </span>
          )}
          {hidden && (
            <span className="tag" data-tone="gone">
              Hidden{hidden.reason ? `: ${hidden.reason}` : ''}
            </span>
          )}
        </p>
        <p id={`text-${id}`} className="row-text" dir="auto">
          {content}
        </p>
      </div>
      <div className="row-actions">
        {actionsOf(comment).map((action, index) => (
          <button
            key={action}
            type="button"
            className="button"
            data-tone="outline"
            aria-describedby={`text-${id}`}
            {...(index === 0 && { 'data-row-focus': true })}
            onClick={() => onAct(action)}
          >
            {ACTION_LABELS[action]}
          </button>
        ))}
      </div>
    </div>
  );
}
