import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useSearchParams } from 'react-router';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/sort.ts';
import { useApi } from '../../lib/api-context.tsx';
import { flattenComments } from '../../lib/comment-cache.ts';
import { useReadOnArrival } from '../../lib/navigation.tsx';
import { CommentForm } from './comment-form.tsx';
import { CommentItem } from './comment-item.tsx';
import { CommentsEmpty, CommentsFailure, CommentsLoading } from './comment-states.tsx';
import { COMMENT_TEXTS } from './messages.ts';
import { MoreComments } from './more-comments.tsx';
import { commentListOptions, commentOrder, heldCommentsOptions } from './queries.ts';
import { SortSelect } from './sort-select.tsx';

interface DiscussionProps {
  productId: string;
  /** The product's count: those that are shown, and those that wait to be. */
  count: number;
  /** What tells of comments that were written meanwhile, which is another feature's. */
  news: ReactNode;
}

export function Discussion({ productId, count, news }: DiscussionProps) {
  const api = useApi();
  const [params] = useSearchParams();
  const [sort, setSort] = useState(DEFAULT_COMMENT_SORT);
  const list = useInfiniteQuery({
    ...commentListOptions(api, productId, commentOrder(sort, params.get('comments'))),
    ...useReadOnArrival(),
  });
  const held = useQuery(heldCommentsOptions(api, productId));
  const comments = flattenComments(list.data, held.data?.items);

  return (
    <section id="comments" className="product-section discussion" aria-labelledby="comments-title">
      <div className="discussion-head">
        <h2 id="comments-title" tabIndex={-1}>
          {COMMENT_TEXTS.title(count)}
        </h2>
        <SortSelect sort={sort} onChange={setSort} />
      </div>
      <CommentForm productId={productId} />
      {news}
      {list.isPending && <CommentsLoading />}
      {list.isError && !list.data && <CommentsFailure onRetry={() => list.refetch()} />}
      {list.data && comments.length === 0 && <CommentsEmpty />}
      {comments.length > 0 && (
        <ol className="comment-list" aria-busy={list.isPlaceholderData}>
          {comments.map((comment) => (
            <CommentItem key={comment.id} comment={comment} />
          ))}
        </ol>
      )}
      {!list.isPlaceholderData && <MoreComments list={list} />}
    </section>
  );
}
