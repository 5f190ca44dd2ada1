import type { MouseEvent } from 'react';
import { useLocation } from 'react-router';
import { focusAdded } from '../../lib/focus-added.ts';

interface MoreCommentsProps {
  list: {
    data: { pages: { nextCursor: string | null }[] } | undefined;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

/** The way to older pages; without JavaScript an address that starts there. */
export function MoreComments({ list }: MoreCommentsProps) {
  const { pathname } = useLocation();
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
          More comments could not be loaded.
        </p>
      )}
      <a
        className="button more-comments"
        data-tone="outline"
        href={`${pathname}?comments=${encodeURIComponent(cursor)}#comments`}
        aria-disabled={list.isFetchingNextPage}
        onClick={loadHere}
      >
        {list.isFetchingNextPage ? 'Loading more comments...' : 'Show more comments'}
      </a>
    </>
  );
}
