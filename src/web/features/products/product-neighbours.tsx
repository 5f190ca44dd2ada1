import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import * as paths from '../../../contract/paths.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { arrowKeys, localAddress, t } from '../../language/translate.ts';
import { useLastList } from '../../routing/navigation.tsx';
import { useRouter } from '../../routing/router.tsx';
import { ChevronLeftIcon, ChevronRightIcon } from '../../ui/icons.tsx';
import { useShortcut, useShortcuts } from '../../ui/shortcuts.ts';
import { readFilters } from './filters.ts';
import { productListOptions, useProductOptions } from './queries.ts';

/** Buttons and arrow keys that lead to the neighbouring products in the list that the visitor came from. */
export function ProductNeighbours({ detail }: { detail: ProductDetail }) {
  const { previousId, nextId } = useNeighbours(detail);
  const keys = arrowKeys();
  return (
    <nav className="product-neighbours" aria-label={t('Products beside this one')}>
      <NeighbourButton id={previousId} shortcut={keys.previous}>
        <ChevronLeftIcon />
        {t('Previous')}
      </NeighbourButton>
      <NeighbourButton id={nextId} shortcut={keys.next}>
        {t('Next')}
        <ChevronRightIcon />
      </NeighbourButton>
      <noscript>
        {typeof window === 'undefined' && (
          <>
            {previousId && <PlainLink id={previousId}>{t('Previous')}</PlainLink>}
            {nextId && <PlainLink id={nextId}>{t('Next')}</PlainLink>}
          </>
        )}
      </noscript>
    </nav>
  );
}

interface NeighbourButtonProps {
  /** Null at either end of the list. */
  id: string | null;
  shortcut: string;
  children: ReactNode;
}

function NeighbourButton({ id, shortcut, children }: NeighbourButtonProps) {
  const { navigate } = useRouter();
  const name = useNeighbourName(id);
  const hasShortcuts = useShortcuts();
  useShortcut(shortcut, (event) => {
    if (!id || event.shiftKey) return;
    event.preventDefault();
    navigate(paths.product(id));
  });

  return (
    <button
      type="button"
      className="button"
      data-tone="outline"
      disabled={!id}
      title={name}
      aria-keyshortcuts={hasShortcuts ? shortcut : undefined}
      onClick={() => id && navigate(paths.product(id))}
    >
      {children}
    </button>
  );
}

function PlainLink({ id, children }: { id: string; children: string }) {
  return (
    <a className="button" data-tone="outline" href={localAddress(paths.product(id))}>
      {children}
    </a>
  );
}

/**
 * Returns the neighbours in the filtered or sorted list that the visitor came from. Without such a list, returns the
 * server's neighbours, which are those in the default list, or the neighbours in that list until the server has
 * responded. The server's neighbours also replace a neighbour that a filtered list could not load.
 */
function useNeighbours(detail: ProductDetail): Pick<ProductDetail, 'previousId' | 'nextId'> {
  // The URL has no parameters without such a list.
  const filters = readFilters(new URLSearchParams(useLastList().current?.href.slice(1)));
  const { data, fetchNextPage, isFetchNextPageError } = useInfiniteQuery({
    ...productListOptions(useApi(), filters),
    enabled: false,
  });
  const ids = [...new Set(data?.pages.flatMap(({ items }) => items.map(({ id }) => id)))];
  const usesList = filters.q || filters.tag || filters.sort || !(detail.previousId || detail.nextId);
  const at = usesList ? ids.indexOf(detail.product.id) : -1;
  // A page of a search may be empty although a later page has matches, so the effect depends on the cursor.
  const nextCursor = at >= 0 && at === ids.length - 1 && data?.pages.at(-1)?.nextCursor;
  useEffect(() => {
    if (nextCursor) void fetchNextPage();
  }, [nextCursor, fetchNextPage]);
  if (at < 0) return detail;
  // The server's neighbours follow the order of launches. After a sorted list, they would lead visitors back and forth.
  return {
    // A list that starts at a cursor does not contain the products before it.
    previousId: ids[at - 1] ?? (!filters.sort && filters.cursor ? detail.previousId : null),
    nextId: ids[at + 1] ?? (!filters.sort && isFetchNextPageError ? detail.nextId : null),
  };
}

/** The delay before the neighbours load, so the page's own requests come first. */
const PREFETCH_AFTER_MS = 500;

/** Returns the name of a neighbour. Prefetches the whole product, so navigation to its page is instant. */
function useNeighbourName(id: string | null): string | undefined {
  // The query is disabled, because live updates treat the product of an active query as the one on screen.
  const options = { ...useProductOptions(id ?? ''), enabled: false, meta: {} };
  const { data, dataUpdatedAt, refetch } = useQuery(options);
  const missingId = dataUpdatedAt ? null : id;
  useEffect(() => {
    if (!missingId) return;
    const timer = setTimeout(refetch, PREFETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [missingId, refetch]);
  return data?.product.name;
}
