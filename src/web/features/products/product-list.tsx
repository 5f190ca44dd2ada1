import { useInfiniteQuery } from '@tanstack/react-query';
import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { flattenPages } from '../../cache/cached-data.ts';
import { dateFormat, intlLocale, plural, t } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { useRetryOnMount } from '../../routing/navigation.tsx';
import { Link } from '../../ui/link.tsx';
import { FailureNotice, Notice, NoticeLink } from '../../ui/notice.tsx';
import { focusListTitle, type ProductFilters, positionOf } from './filters.ts';
import { LoadMore } from './load-more.tsx';
import { type CardParts, ProductCard, ProductCardSkeletons } from './product-card.tsx';
import { type PagedProducts, productListOptions } from './queries.ts';

interface ProductListProps {
  filters: ProductFilters;
  /** Renders the parts of a card that other features provide. */
  renderParts: (product: Product) => CardParts;
}

export function ProductList({ filters, renderParts }: ProductListProps) {
  const list = useInfiniteQuery({ ...productListOptions(useApi(), filters), ...useRetryOnMount() });
  const { timeZone = 'UTC' } = useSite();
  const days = dateFormat(intlLocale() ?? 'en-GB', { dateStyle: 'full', timeZone });
  if (list.isLoadingError) return <ListFailure filters={filters} />;

  const position = positionOf(filters);
  const ranked = rankedProducts(list.data, position);
  const found = position + ranked.length;
  const settled = !list.isPending && !list.isPlaceholderData;
  const hasDays = !filters.q && !filters.sort;
  const labels = hasDays ? ranked.map(({ product }) => days.format(new Date(product.createdAt))) : [];
  // The server stops a long search early, so a page may be empty although a later page has matches. In that case, the
  // list loads the next page instead of reporting an empty result.
  const searching = ranked.length === 0 && list.hasNextPage;
  // An empty result from the previous search does not count, because the new search may have matches.
  const loading = ranked.length === 0 && !settled;
  // The last page of a search may be empty although earlier pages had matches.
  const hasFound = Boolean(filters.q ?? filters.tag) && found > 0 && !loading;
  return (
    <>
      {/* Always rendered, because screen readers announce only changes to an existing element. */}
      <div role="status" aria-busy={!settled && !loading}>
        {hasFound && (
          <p className="list-found">
            {settled &&
              (list.hasNextPage
                ? plural('{count} or more products', '{count} or more products', found)
                : plural('{count} product', '{count} products', found))}
          </p>
        )}
        {loading && <p className="list-loading">{t('Loading products...')}</p>}
        {searching && (list.isFetchingNextPage || !list.isFetchNextPageError) && (
          <p className="list-loading">{t('Still searching...')}</p>
        )}
        {ranked.length === 0 && !loading && !searching && !hasFound && <ListEmpty filters={filters} />}
      </div>
      {loading && (
        <div className="product-list">
          <ProductCardSkeletons count={SKELETONS} />
        </div>
      )}
      <noscript>
        {typeof window === 'undefined' && <p className="needs-script">{t('Upvoting and saving need JavaScript.')}</p>}
      </noscript>
      {ranked.length > 0 && (
        <ol className="product-list" aria-busy={!settled} start={ranked[0]?.rank}>
          {ranked.map(({ product, rank }, index) => (
            <li key={product.id}>
              {labels[index] !== labels[index - 1] && (
                // Servers and browsers may format a date differently, because their versions of `Intl` differ.
                <p className="list-day" suppressHydrationWarning>
                  {labels[index]}
                </p>
              )}
              <ProductCard
                product={product}
                rank={rank}
                isFirst={index === 0}
                q={filters.q}
                {...renderParts(product)}
              />
            </li>
          ))}
        </ol>
      )}
      {list.data && settled && <LoadMore list={list} filters={filters} shown={ranked.length} />}
    </>
  );
}

/**
 * Returns the products of all pages with their ranks. A rank is counted rather than computed from the page number,
 * because a page of a search may be incomplete.
 */
function rankedProducts(list: PagedProducts | undefined, position: number): { product: Product; rank: number }[] {
  const products = flattenPages(list?.pages ?? [], ({ id }) => id);
  return products.map((product, index) => ({ product, rank: position + index + 1 }));
}

const SKELETONS = 6;

function ListFailure({ filters }: { filters: ProductFilters }) {
  return (
    <FailureNotice
      title={
        <p className="notice-title" role="alert">
          {t('Failed to load products')}
        </p>
      }
      actions={
        filters.cursor && (
          <Link
            className="button"
            data-tone="outline"
            to={paths.list({ ...filters, cursor: undefined })}
            onClick={focusListTitle}
          >
            {t('Start from the first page')}
          </Link>
        )
      }
    />
  );
}

function ListEmpty({ filters }: { filters: ProductFilters }) {
  if (!filters.q && !filters.tag) {
    return (
      <Notice>
        <p className="notice-title">{t('No products yet')}</p>
        <p>{t('The first wave is still on its way. Come back soon.')}</p>
      </Notice>
    );
  }
  return (
    <Notice>
      <p className="notice-title">
        {t('Nothing on the horizon for “{term}”', { term: filters.q ?? filters.tag ?? '' })}
      </p>
      <p>{reasonOf(filters)}</p>
      <NoticeLink to={paths.list({ sort: filters.sort })} onClick={focusListTitle}>
        {t('Show all products')}
      </NoticeLink>
    </Notice>
  );
}

function reasonOf({ q, tag }: ProductFilters): string {
  if (!q) return t('No product has this tag.');
  return tag
    ? t('No product tagged “{tag}” has a matching name or description. A shorter word may find more.', { tag })
    : t('No product has a matching name or description. A shorter word may find more.');
}
