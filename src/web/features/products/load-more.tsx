import { type MouseEvent, useEffect, useRef } from 'react';
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
    fetchNextPage: () => unknown;
  };
  filters: ProductFilters;
}

/** The list's end: loads on as it comes near, and is a plain link to the next page without JavaScript. */
export function LoadMore({ list, filters }: LoadMoreProps) {
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = list;

  if (isFetchingNextPage) {
    return (
      <div className="load-more-pending">
        <p className="visually-hidden" role="status">
          Loading more products...
        </p>
        <ProductCardSkeletons count={3} />
      </div>
    );
  }
  if (isFetchNextPageError) {
    return (
      <p className="load-more-failed" role="alert">
        More products could not be loaded.{' '}
        <button type="button" className="button" data-tone="outline" onClick={() => fetchNextPage()}>
          Try again
        </button>
      </p>
    );
  }
  const href = nextHref(list.data, filters);
  return hasNextPage && href ? <NextPageLink href={href} onNear={fetchNextPage} /> : null;
}

function NextPageLink({ href, onNear }: { href: string; onNear: () => unknown }) {
  const link = useRef<HTMLAnchorElement>(null);

  useEffect(() => {
    if (!link.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onNear();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(link.current);
    return () => observer.disconnect();
  }, [onNear]);

  function loadHere(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onNear();
  }

  return (
    <a ref={link} className="button load-more" data-tone="outline" rel="next" href={href} onClick={loadHere}>
      Show more products
    </a>
  );
}

function nextHref({ pages, pageParams }: PagedProducts, filters: ProductFilters): string | null {
  const cursor = pages.at(-1)?.nextCursor;
  const page = pageParams.at(-1)?.page;
  return cursor && page ? listHref({ ...filters, cursor, page: page + 1 }) : null;
}
