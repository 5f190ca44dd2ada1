import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/defaults.ts';
import type { CommentSort } from '../../../contract/comments/schema.ts';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { flattenComments } from '../../cache/cached-data.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t } from '../../language/translate.ts';
import { useRetryOnMount } from '../../routing/navigation.tsx';
import { useSearchParams } from '../../routing/router.tsx';
import { focusAdded } from '../../ui/focus.ts';
import { Link, MoreLink } from '../../ui/link.tsx';
import { SkeletonBox, SkeletonLine } from '../../ui/skeleton.tsx';
import { CommentForm } from './comment-form.tsx';
import { CommentItem } from './comment-item.tsx';
import { commentListOptions, commentOrder, heldCommentsOptions } from './queries.ts';

interface DiscussionProps {
  productId: string;
  /** The product's number of comments, including those that are not loaded yet. */
  count: number;
  /** The announcement of new comments, provided by another feature. */
  liveUpdates: ReactNode;
}

export function Discussion({ productId, count, liveUpdates }: DiscussionProps) {
  const api = useApi();
  const params = useSearchParams();
  const [sort, setSort] = useState(DEFAULT_COMMENT_SORT);
  const order = commentOrder(sort, params.get('comments'));
  const list = useInfiniteQuery({
    ...commentListOptions(api, productId, order),
    ...useRetryOnMount(),
  });
  const held = useQuery(heldCommentsOptions(api, productId));
  const comments = flattenComments(list.data, held.data?.items);
  if (sort === 'newest' && !list.isPlaceholderData)
    comments.sort((one, other) => other.createdAt.localeCompare(one.createdAt));

  return (
    <section id="comments" className="product-section discussion" aria-labelledby="comments-title">
      <div className="discussion-head">
        <h2 id="comments-title" tabIndex={-1}>
          {/* The server's count does not include the visitor’s own comments that wait for moderation. */}
          {t('Discussion ({count})', { count: String(Math.max(count, comments.length)) })}
        </h2>
        <SortSelect sort={sort} onChange={setSort} />
      </div>
      <noscript>
        {typeof window === 'undefined' && (
          <p className="needs-script">{t('Writing and liking comments need JavaScript.')}</p>
        )}
      </noscript>
      <CommentForm productId={productId} />
      {liveUpdates}
      {list.isPending && <CommentsLoading />}
      {list.isLoadingError && (
        <CommentsFailure
          onRetry={() =>
            focusAdded('.comment-list > .comment', list.refetch, '.comments-failed button, .comments-empty')
          }
        />
      )}
      {order.cursor && (
        <Link className="button more-comments" to={paths.productComments(productId)} data-tone="outline">
          {t('Start from the first page')}
        </Link>
      )}
      {comments.length > 0 ? (
        <ol className="comment-list" aria-busy={list.isPlaceholderData}>
          {comments.map((comment) => (
            <CommentItem key={comment.id} comment={comment} />
          ))}
        </ol>
      ) : (
        list.data &&
        count === 0 && <p className="comments-empty">{t('No comments yet. Be the first to share your thoughts!')}</p>
      )}
      {!list.isPlaceholderData && <MoreComments productId={productId} list={list} />}
    </section>
  );
}

const LABELS: Record<CommentSort, PlainMessage> = { best: 'Best', newest: 'Newest', oldest: 'Oldest' };

interface SortSelectProps {
  sort: CommentSort;
  onChange: (sort: CommentSort) => void;
}

function SortSelect({ sort, onChange }: SortSelectProps) {
  function adopt(select: HTMLSelectElement | null): void {
    if (select) onChange(select.value as CommentSort);
  }

  return (
    <label className="sort-select">
      <span className="visually-hidden">{t('Sort comments')}</span>
      <select
        // Adopts an order that the visitor chose before hydration.
        ref={adopt}
        value={sort}
        onChange={(event) => adopt(event.currentTarget)}
        autoComplete="off"
      >
        {Object.entries(LABELS).map(([value, label]) => (
          <option key={value} value={value}>
            {t(label)}
          </option>
        ))}
      </select>
    </label>
  );
}

function CommentsLoading() {
  return (
    <div className="comment-list">
      <p className="visually-hidden" role="status">
        {t('Loading comments...')}
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

/** Shown after a failed read: an empty list (specification, section 8) and an unobtrusive way to retry. */
function CommentsFailure({ onRetry }: { onRetry: () => unknown }) {
  return (
    <p className="comments-failed" role="alert">
      {`${t('The comments cannot be loaded right now.')} `}
      <button type="button" className="text-button" onClick={onRetry}>
        {t('Try again')}
      </button>
    </p>
  );
}

interface MoreCommentsProps {
  productId: string;
  list: {
    data: { pages: { nextCursor: string | null }[] } | undefined;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

function MoreComments({ productId, list }: MoreCommentsProps) {
  const cursor = list.data?.pages.at(-1)?.nextCursor;
  if (!cursor) return null;

  return (
    <>
      {list.isFetchNextPageError && !list.isFetchingNextPage && (
        <p className="comments-failed" role="alert">
          {t('More comments could not be loaded.')}
        </p>
      )}
      <MoreLink
        className="button more-comments"
        href={paths.commentsFrom(productId, cursor)}
        isBusy={list.isFetchingNextPage}
        onMore={() => void focusAdded('.comment-list > .comment', list.fetchNextPage)}
      >
        {list.isFetchingNextPage ? t('Loading more comments...') : t('Show more comments')}
      </MoreLink>
    </>
  );
}
