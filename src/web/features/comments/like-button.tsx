import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Comment } from '../../../contract/comments/schema.ts';
import { useApi } from '../../lib/api-context.tsx';
import { HeartIcon } from '../../ui/icons.tsx';
import { RollingNumber } from '../../ui/rolling-number.tsx';
import { likeCommentOptions } from './queries.ts';

export function LikeButton({ comment }: { comment: Comment }) {
  const { mutate } = useMutation(likeCommentOptions(useApi(), useQueryClient(), comment.productId, comment.id));
  return (
    <button type="button" className="button like-button" data-tone="quiet" title="Like" onClick={() => mutate()}>
      <HeartIcon />
      <span className="visually-hidden">Like </span>
      <RollingNumber value={comment.likes} />
    </button>
  );
}
