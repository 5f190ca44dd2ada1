import type { Comment } from '../../../contract/comments/schema.ts';
import { commentElementId } from '../../lib/comment-cache.ts';
import { Avatar } from '../../ui/avatar.tsx';
import { ReplyIcon } from '../../ui/icons.tsx';
import { TimeAgo } from '../../ui/time-ago.tsx';
import { CommentText } from './comment-text.tsx';
import { LikeButton } from './like-button.tsx';

export function CommentItem({ comment }: { comment: Comment }) {
  return (
    <li id={commentElementId(comment.id)} className="comment">
      <Avatar name={comment.authorName} src={comment.authorAvatar} />
      <article className="comment-body" aria-label={`Comment by ${comment.authorName}`}>
        <p className="comment-head">
          <span className="comment-author">{comment.authorName}</span>
          {comment.authorBadge && <span className="badge">{comment.authorBadge}</span>}
          <TimeAgo time={comment.createdAt} />
        </p>
        <CommentText text={comment.content} />
        <div className="comment-actions">
          <LikeButton comment={comment} />
          {/* Shown and without effect, as the specification has it. */}
          <button type="button" className="button" data-tone="quiet">
            <ReplyIcon />
            Reply
          </button>
        </div>
      </article>
    </li>
  );
}
