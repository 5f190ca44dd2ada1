import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';
import { COMMENT_TEXTS } from './messages.ts';

export function CommentsLoading() {
  return (
    <div className="comment-list">
      <p className="visually-hidden" role="status">
        Loading comments...
      </p>
      {[1, 2].map((number) => (
        <div key={number} className="comment" aria-hidden="true">
          <SkeletonBox className="avatar-skeleton" />
          <div className="comment-body">
            <SkeletonLine width="short" />
            <SkeletonLine width="long" />
          </div>
        </div>
      ))}
    </div>
  );
}

/** A failed read is an empty list (specification, section 8), with a quiet way to ask again. */
export function CommentsFailure({ onRetry }: { onRetry: () => unknown }) {
  return (
    <p className="comments-failed" role="status">
      The comments are out of reach right now.{' '}
      <button type="button" className="text-button" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}

export function CommentsEmpty() {
  return <p className="comments-empty">{COMMENT_TEXTS.empty}</p>;
}
