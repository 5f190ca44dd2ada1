import type { MouseEvent } from 'react';
import { paths } from '../../../contract/paths.ts';
import { localAddress, t } from '../../language/translate.ts';
import { focusAdded } from '../../ui/focus.ts';

interface MoreCommentsProps {
  productId: string;
  list: {
    data: { pages: { nextCursor: string | null }[] } | undefined;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

/** Loads the next page; without JavaScript it is a link to a page that starts there. */
export function MoreComments({ productId, list }: MoreCommentsProps) {
  const cursor = list.data?.pages.at(-1)?.nextCursor;
  if (!list.hasNextPage || !cursor) return null;

  function loadHere(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (!list.isFetchingNextPage) void focusAdded('.comment-list > .comment', list.fetchNextPage);
  }

  return (
    <>
      {list.isFetchNextPageError && (
        <p className="comments-failed" role="status">
          {t('More comments could not be loaded.')}
        </p>
      )}
      <a
        className="button more-comments"
        data-tone="outline"
        href={localAddress(paths.commentsFrom(productId, cursor))}
        aria-disabled={list.isFetchingNextPage}
        onClick={loadHere}
      >
        {list.isFetchingNextPage ? t('Loading more comments...') : t('Show more comments')}
      </a>
    </>
  );
}
