import type { CommentAction, ConsoleComment } from '../../../contract/console/records.ts';
import { paths } from '../../../contract/paths.ts';
import { TimeAgo } from '../../../web/ui/time.tsx';
import { formatAmount } from '../../ui/format-amount.ts';
import { ChooseBox, type RowState } from '../../ui/list.tsx';

interface Props {
  comment: ConsoleComment;
  state: RowState;
  onAct: (action: CommentAction) => void;
}

/** The operations on a comment; A runs the first one, D the last one. */
export function actionsOf({ held, hidden }: ConsoleComment): CommentAction[] {
  if (hidden !== null) return ['restore'];
  return held ? ['release', 'hide'] : ['hold', 'hide'];
}

export const ACTION_LABELS: Record<CommentAction, string> = {
  hide: 'Hide',
  restore: 'Restore',
  hold: 'Hold',
  release: 'Release',
};

export function CommentRow({ comment, state, onAct }: Props) {
  const { authorName, authorBadge, content, productId, productName, likes, createdAt, held, hidden } = comment;
  return (
    <div className="row">
      <ChooseBox name={`the comment on ${productName}`} state={state} />
      <div className="row-body">
        <p className="row-meta">
          <strong>{authorName}</strong>
          {authorBadge && <span className="badge">{authorBadge}</span>}
          <span>
            on <a href={paths.productComments(productId)}>{productName}</a>
          </span>
          <TimeAgo time={createdAt} />
          {likes > 0 && <span>{formatAmount(likes, 'like')}</span>}
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
        <p className="row-text" dir="auto">
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
