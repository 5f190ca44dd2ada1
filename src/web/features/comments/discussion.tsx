import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/sort.ts';
import { useApi } from '../../lib/api-context.tsx';
import { useReadOnArrival } from '../../lib/navigation.tsx';
import { flattenComments } from './comment-cache.ts';
import { CommentForm } from './comment-form.tsx';
import { CommentItem } from './comment-item.tsx';
import { CommentsEmpty, CommentsFailure, CommentsLoading } from './comment-states.tsx';
import { COMMENT_TEXTS } from './messages.ts';
import { MoreComments } from './more-comments.tsx';
import { commentListOptions, commentOrder, heldCommentsOptions } from './queries.ts';
import { SortSelect } from './sort-select.tsx';

interface DiscussionProps {
  productId: string;
  /** The product's count, shown until the comments themselves say how many they are. */
  count: number;
}

export function Discussion({ productId, count }: DiscussionProps) {
  const api = useApi();
  const [params] = useSearchParams();
  const [sort, setSort] = useState(DEFAULT_COMMENT_SORT);
  const list = useInfiniteQuery({
    ...commentListOptions(api, productId, commentOrder(sort, params.get('comments'))),
    ...useReadOnArrival(),
  });
  const held = useQuery(heldCommentsOptions(api, productId));
  const comments = flattenComments(list.data, held.data?.items);
  const total = list.data?.pages[0]?.total ?? count;

  return (
    <section id="comments" className="product-section discussion" aria-labelledby="comments-title">
      <div className="discussion-head">
        <h2 id="comments-title" tabIndex={-1}>
          {COMMENT_TEXTS.title(total)}
        </h2>
        <SortSelect sort={sort} onChange={setSort} />
      </div>
      <CommentForm productId={productId} />
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
