import { useEffect, useRef } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { focusAdded } from '../../ui/focus.ts';
import { MoreLink } from '../../ui/link.tsx';
import type { ProductFilters } from './filters.ts';
import { ProductCardSkeletons } from './product-card.tsx';
import type { PagedProducts } from './queries.ts';

/** The next page is requested when the end of the list is at most this far below the screen. */
const PREFETCH_MARGIN = '800px';

/**
 * Pages load automatically until this number of products is loaded. After that, visitors load further pages with the
 * link, so they can reach the footer.
 */
const MAX_AUTO_LOADED = 3 * LIMITS.listedProducts;

interface LoadMoreProps {
  list: {
    data: PagedProducts;
    isFetching: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<unknown>;
  };
  filters: ProductFilters;
  /** The number of products that are loaded. */
  shown: number;
}

/** The control at the end of the list that loads more products. */
export function LoadMore({ list, filters, shown }: LoadMoreProps) {
  const { isFetching, isFetchingNextPage, isFetchNextPageError } = list;
  // By default, this would cancel a refetch of the loaded pages, which would then count as up to date. With this
  // option, it only waits for the refetch.
  const fetchNext = () => list.fetchNextPage({ cancelRefetch: false });
  // A refetch may add products anywhere, so the focus then stays on the link.
  const press = () =>
    void (isFetching
      ? fetchNext().then(fetchNext)
      : focusAdded('.product-list h3 a', fetchNext, '.load-more-failed button'));
  const isFailed = isFetchNextPageError && !isFetchingNextPage;

  if (isFailed) {
    return (
      <p className="load-more-failed" role="alert">
        {`${t('More products could not be loaded.')} `}
        <button type="button" className="button" data-tone="outline" onClick={press}>
          {t('Try again')}
        </button>
      </p>
    );
  }
  const cursor = list.data.pages.at(-1)?.nextCursor;
  return (
    <>
      {isFetchingNextPage && (
        <div className="load-more-pending">
          <p className="visually-hidden" role="status">
            {t('Loading more products...')}
          </p>
          <ProductCardSkeletons count={3} />
        </div>
      )}
      {cursor && (
        <NextPageLink
          href={paths.list({ ...filters, cursor })}
          isBusy={isFetchingNextPage}
          onNear={shown < MAX_AUTO_LOADED && fetchNext}
          onPress={press}
        />
      )}
    </>
  );
}

interface NextPageLinkProps {
  href: string;
  isBusy: boolean;
  onNear: false | (() => unknown);
  onPress: () => void;
}

/**
 * A link to the next page. While that page loads, the link is invisible, but stays in place because it may have the
 * focus.
 */
function NextPageLink({ href, isBusy, onNear, onPress }: NextPageLinkProps) {
  const link = useRef<HTMLAnchorElement>(null);

  useEffect(() => {
    if (!link.current || isBusy || !onNear) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        // If the link has the focus, the first new item gets it, so keyboard users continue there.
        if (document.activeElement === link.current) onPress();
        else onNear();
      },
      { rootMargin: PREFETCH_MARGIN },
    );
    observer.observe(link.current);
    return () => observer.disconnect();
  });

  return (
    <MoreLink
      ref={link}
      className={`button load-more ${isBusy ? 'visually-hidden' : ''}`}
      rel="next"
      href={href}
      isBusy={isBusy}
      onMore={onPress}
    >
      {t('Show more products')}
    </MoreLink>
  );
}
