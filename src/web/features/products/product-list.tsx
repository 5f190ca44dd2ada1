import { useInfiniteQuery } from '@tanstack/react-query';
import type { Product } from '../../../contract/products/schema.ts';
import { useApi } from '../../lib/api-context.tsx';
import { useReadOnArrival } from '../../lib/navigation.tsx';
import type { ProductFilters } from './filters.ts';
import { ListAnnouncement } from './list-announcement.tsx';
import { ListEmpty, ListFailure, ListLoading, ListSearching } from './list-states.tsx';
import { LoadMore } from './load-more.tsx';
import { type CardParts, ProductCard } from './product-card.tsx';
import { type PagedProducts, productListOptions, rankOf } from './queries.ts';

interface ProductListProps {
  filters: ProductFilters;
  /** What other features put on a product's card. */
  renderParts: (product: Product) => CardParts;
}

export function ProductList({ filters, renderParts }: ProductListProps) {
  const list = useInfiniteQuery({ ...productListOptions(useApi(), filters), ...useReadOnArrival() });
  if (list.isPending) return <ListLoading />;
  if (!list.data) return <ListFailure filters={filters} />;

  const ranked = rankedProducts(list.data);
  const settled = !list.isPlaceholderData;
  // A page without products and with a next one: the server did not look at the whole list yet, so nothing is said to be
  // missing, and the list's end goes on asking.
  const searching = ranked.length === 0 && list.hasNextPage;
  return (
    <>
      <ListAnnouncement
        filters={filters}
        count={ranked.length}
        more={list.hasNextPage}
        settled={settled && !searching}
      />
      {searching && <ListSearching />}
      {ranked.length === 0 && !searching && <ListEmpty filters={filters} />}
      {ranked.length > 0 && (
        <ol className="product-list" aria-busy={!settled} start={ranked[0]?.rank}>
          {ranked.map(({ product, rank }) => (
            <li key={product.id}>
              <ProductCard product={product} rank={rank} {...renderParts(product)} />
            </li>
          ))}
        </ol>
      )}
      {settled && <LoadMore list={list} filters={filters} />}
    </>
  );
}

/**
 * Products of all pages with their ranks, counted on from the first page: a search's pages may be shorter than full ones.
 * A product that moved to a later page while paging is shown once.
 */
function rankedProducts({ pages, pageParams }: PagedProducts): { product: Product; rank: number }[] {
  const products = new Map(pages.flatMap(({ items }) => items).map((product) => [product.id, product]));
  return [...products.values()].map((product, index) => ({ product, rank: rankOf(pageParams[0]?.page ?? 1, index) }));
}
