import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { paths } from '../../../contract/paths.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { arrowKeys, localAddress, t } from '../../language/translate.ts';
import { useRouter } from '../../routing/router.tsx';
import { ChevronLeftIcon, ChevronRightIcon } from '../../ui/icons.tsx';
import { isShortcutBlocked, useShortcuts } from '../../ui/shortcuts.ts';
import { readFilters } from './filters.ts';
import { productDetailOptions, productListOptions } from './queries.ts';

interface ProductNeighboursProps {
  detail: ProductDetail;
  /** The list that the visitor came from. */
  listHref: string | undefined;
}

/** Buttons and arrow keys that lead to the neighbouring products in the list that the visitor came from. */
export function ProductNeighbours({ detail, listHref = paths.home }: ProductNeighboursProps) {
  const { previousId, nextId } = useNeighbours(detail, listHref);
  const { navigate } = useRouter();
  const previousName = useNeighbourName(previousId);
  const nextName = useNeighbourName(nextId);
  const hasShortcuts = useShortcuts();

  const keys = arrowKeys();

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const id = event.key === keys.previous ? previousId : event.key === keys.next ? nextId : null;
      if (id === null || event.shiftKey || isShortcutBlocked(event)) return;
      event.preventDefault();
      navigate(paths.product(id));
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [navigate, previousId, nextId, keys.previous, keys.next]);

  const go = (id: string | null) => () => id !== null && navigate(paths.product(id));
  return (
    <nav className="product-neighbours" aria-label={t('Products beside this one')}>
      <button
        type="button"
        className="button"
        data-tone="outline"
        disabled={previousId === null}
        title={previousName}
        aria-keyshortcuts={hasShortcuts ? keys.previous : undefined}
        onClick={go(previousId)}
      >
        <ChevronLeftIcon />
        {t('Previous')}
      </button>
      <button
        type="button"
        className="button"
        data-tone="outline"
        disabled={nextId === null}
        title={nextName}
        aria-keyshortcuts={hasShortcuts ? keys.next : undefined}
        onClick={go(nextId)}
      >
        {t('Next')}
        <ChevronRightIcon />
      </button>
      <noscript>
        {typeof window === 'undefined' && (
          <>
            {previousId !== null && <PlainLink id={previousId}>{t('Previous')}</PlainLink>}
            {nextId !== null && <PlainLink id={nextId}>{t('Next')}</PlainLink>}
          </>
        )}
      </noscript>
    </nav>
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
 * Returns the neighbours in the filtered or sorted list that the visitor came from. For the home page's own list, and
 * for products that are not among the loaded ones, they come from the server.
 */
function useNeighbours(detail: ProductDetail, listHref: string): Pick<ProductDetail, 'previousId' | 'nextId'> {
  const filters = readFilters(new URLSearchParams(listHref.slice(1)));
  const { data, fetchNextPage, hasNextPage } = useInfiniteQuery({
    ...productListOptions(useApi(), filters),
    enabled: false,
  });
  const ids = [...new Set(data?.pages.flatMap(({ items }) => items.map(({ id }) => id)))];
  const at = listHref === paths.home ? -1 : ids.indexOf(detail.product.id);
  const isLast = at >= 0 && at === ids.length - 1;
  useEffect(() => {
    if (isLast && hasNextPage) void fetchNextPage();
  }, [isLast, hasNextPage, fetchNextPage]);
  return at < 0 ? detail : { previousId: ids[at - 1] ?? null, nextId: ids[at + 1] ?? null };
}

/** The delay before the neighbours load, so the page's own requests come first. */
const PREFETCH_AFTER_MS = 500;

/** The name of a neighbour. The whole product is prefetched, so navigation to its page is instant. */
function useNeighbourName(id: string | null): string | undefined {
  // Disabled, because live updates follow the product whose query is active.
  const options = { ...productDetailOptions(useApi(), id ?? ''), enabled: false, meta: {} };
  const { data, refetch } = useQuery(options);
  const missingId = data ? null : id;
  useEffect(() => {
    if (missingId === null) return;
    const timer = setTimeout(refetch, PREFETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [missingId, refetch]);
  return data?.product.name;
}
