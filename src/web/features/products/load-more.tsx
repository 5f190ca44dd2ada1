import { type MouseEvent, useEffect, useRef } from 'react';
import { focusAdded } from '../../lib/focus-added.ts';
import { listHref, type ProductFilters } from './filters.ts';
import { ProductCardSkeletons } from './product-card-skeleton.tsx';
import type { PagedProducts } from './queries.ts';

/** How far below the screen the next page is asked for. */
const AHEAD = '800px';

interface LoadMoreProps {
  list: {
    data: PagedProducts;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
  filters: ProductFilters;
}

/** The list's end: loads on as it comes near, and is a plain link to the next page without JavaScript. */
export function LoadMore({ list, filters }: LoadMoreProps) {
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list;
  const press = () => void focusAdded('.product-list h3 a', fetchNextPage, '.load-more-failed button');
  const isFailed = isFetchNextPageError && !isFetchingNextPage;

  if (isFailed) {
    return (
      <p className="load-more-failed" role="alert">
        More products could not be loaded.{' '}
        <button type="button" className="button" data-tone="outline" onClick={press}>
          Try again
        </button>
      </p>
    );
  }
  const href = nextHref(list.data, filters);
  return (
    <>
      {isFetchingNextPage && (
        <div className="load-more-pending">
          <p className="visually-hidden" role="status">
            Loading more products...
          </p>
          <ProductCardSkeletons count={3} />
        </div>
      )}
      {hasNextPage && href && (
        <NextPageLink href={href} isBusy={isFetchingNextPage} onNear={fetchNextPage} onPress={press} />
      )}
    </>
  );
}

interface NextPageLinkProps {
  href: string;
  isBusy: boolean;
  onNear: () => unknown;
  onPress: () => void;
}

/** While the next page comes, the link is out of sight and stays in its place for whoever has the focus on it. */
function NextPageLink({ href, isBusy, onNear, onPress }: NextPageLinkProps) {
  const link = useRef<HTMLAnchorElement>(null);

  useEffect(() => {
    if (!link.current || isBusy) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        // Whoever got here by keyboard goes on with what comes.
        if (document.activeElement === link.current) onPress();
        else onNear();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(link.current);
    return () => observer.disconnect();
  });

  function loadHere(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (!isBusy) onPress();
  }

  return (
    <a
      ref={link}
      className={`button load-more ${isBusy ? 'visually-hidden' : ''}`}
      data-tone="outline"
      rel="next"
      href={href}
      aria-disabled={isBusy}
      onClick={loadHere}
    >
      Show more products
    </a>
  );
}

function nextHref({ pages, pageParams }: PagedProducts, filters: ProductFilters): string | null {
  const cursor = pages.at(-1)?.nextCursor;
  const page = pageParams.at(-1)?.page;
  return cursor && page ? listHref({ ...filters, cursor, page: page + 1 }) : null;
}
