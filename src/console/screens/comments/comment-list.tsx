import { type ReactNode, useState } from 'react';
import type { CommentAction, ConsoleComment } from '../../../contract/console/records.ts';
import type { Pages } from '../../api/pages.ts';
import { ReasonDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { ACTION_LABELS, actionsOf, CommentRow } from './comment-row.tsx';
import { useModerate } from './moderate.ts';

interface Props {
  label: string;
  pages: Pages<ConsoleComment>;
  empty: ReactNode;
}

/** Comments to be moderated one by one or in bulk: A releases or restores, D hides, with an optional reason. */
export function CommentList({ label, pages, empty }: Props) {
  const moderate = useModerate();
  const [hiding, setHiding] = useState<readonly ConsoleComment[]>();

  function act(action: CommentAction, comments: readonly ConsoleComment[]): void {
    const fitting = comments.filter((comment) => actionsOf(comment).includes(action));
    if (fitting.length === 0) return;
    if (action === 'hide') setHiding(fitting);
    else void moderate(action, fitting);
  }

  return (
    <>
      <List
        label={label}
        pages={pages}
        keyOf={({ id }) => id}
        estimatePx={104}
        empty={empty}
        keys={{
          a: (comments) => {
            act('release', comments);
            act('restore', comments);
          },
          d: (comments) => act('hide', comments),
        }}
        renderRow={(comment, state) => (
          <CommentRow comment={comment} state={state} onAct={(action) => act(action, [comment])} />
        )}
        renderBar={(comments, clear) =>
          (['release', 'restore', 'hold', 'hide'] as const)
            .filter((action) => comments.some((comment) => actionsOf(comment).includes(action)))
            .map((action) => (
              <button
                key={action}
                type="button"
                className="button"
                data-tone="outline"
                onClick={() => {
                  act(action, comments);
                  clear();
                }}
              >
                {ACTION_LABELS[action]}
              </button>
            ))
        }
      />
      {hiding && (
        <ReasonDialog
          title={hiding.length === 1 ? 'Hide this comment' : `Hide ${hiding.length} comments`}
          note="It is no longer visible to anyone, including its author."
          suggestions={['Spam', 'Off topic', 'Insult', 'Personal data']}
          label="Hide"
          onClose={() => setHiding(undefined)}
          onSubmit={(reason) => void moderate('hide', hiding, reason)}
        />
      )}
    </>
  );
}
