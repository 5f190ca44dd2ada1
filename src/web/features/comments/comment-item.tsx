import { useQueryClient } from '@tanstack/react-query';
import type { Comment } from '../../../contract/comments/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { commentElementId } from '../../cache/cached-data.ts';
import { t, translated } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { Avatar } from '../../ui/avatar.tsx';
import { HeartIcon, ReplyIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { UserText } from '../../ui/user-text.tsx';
import { loadWrites } from './comment-form.tsx';
import { ownComments } from './queries.ts';

export function CommentItem({ comment }: { comment: Comment }) {
  const isOwn = useBrowserStore(ownComments, (ids) => ids.includes(comment.id));
  const author = translated(comment.authorName, 'default:');
  return (
    <li id={commentElementId(comment.id)} className="comment">
      <Avatar name={comment.authorName} src={comment.authorAvatar} />
      <article className="comment-body" aria-label={t('Comment by {name}', { name: author })}>
        <p className="comment-head">
          <span className="comment-author" dir="auto">
            {author}
          </span>
          {comment.authorBadge && (
            <span className="badge" dir="auto">
              {comment.authorBadge}
            </span>
          )}
          <Link className="comment-link" to={`#${commentElementId(comment.id)}`} title={t('Copy link')}>
            <TimeAgo time={comment.createdAt} />
          </Link>
          {isOwn && <span className="comment-own">{t('Posted from this browser')}</span>}
        </p>
        <CommentText text={comment.content} />
        <div className="comment-actions">
          <LikeButton comment={comment} />
          {/* The specification requires this button, which has no effect. */}
          <button type="button" className="button comment-reply" data-tone="quiet">
            <ReplyIcon />
            {t('Reply')}
          </button>
        </div>
      </article>
    </li>
  );
}

/**
 * A comment's text. Keeps line breaks, but collapses several blank lines into one. CSS clips long text until `details`
 * is open.
 */
function CommentText({ text }: { text: string }) {
  const shown = text.replace(/\n\s*\n/g, '\n\n');
  return (
    <>
      {(shown.length > 1_000 || shown.split('\n').length > 15) && (
        <details>
          <summary>
            <span>{t('Show more')}</span>
            <span>{t('Show less')}</span>
          </summary>
        </details>
      )}
      <p className="comment-text" dir="auto">
        <UserText text={shown} />
      </p>
    </>
  );
}

function LikeButton({ comment }: { comment: Comment }) {
  const api = useApi();
  const client = useQueryClient();

  async function like(): Promise<void> {
    const writes = await loadWrites().catch(console.warn);
    await writes?.likeComment(api, client, comment);
  }

  return (
    <button type="button" className="button like-button" data-tone="quiet" title={t('Like')} onClick={like}>
      <HeartIcon />
      <span className="visually-hidden">{`${t('Like')} `}</span>
      <RollingNumber value={comment.likes} />
    </button>
  );
}
