import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Product } from '../../../contract/products/schema.ts';
import { useApi } from '../../lib/api-context.tsx';
import { useReadOnArrival } from '../../lib/navigation.tsx';
import type { ProductFilters } from './filters.ts';
import { ListAnnouncement } from './list-announcement.tsx';
import { ListEmpty, ListFailure, ListLoading } from './list-states.tsx';
import { LoadMore } from './load-more.tsx';
import { ProductCard } from './product-card.tsx';
import { type PagedProducts, productListOptions, rankOf } from './queries.ts';

interface ProductListProps {
  filters: ProductFilters;
  renderVote: (product: Product) => ReactNode;
}

export function ProductList({ filters, renderVote }: ProductListProps) {
  const list = useInfiniteQuery({ ...productListOptions(useApi(), filters), ...useReadOnArrival() });
  if (list.isPending) return <ListLoading />;
  if (!list.data) return <ListFailure filters={filters} />;

  const ranked = rankedProducts(list.data);
  const settled = !list.isPlaceholderData;
  return (
    <>
      <ListAnnouncement filters={filters} count={ranked.length} more={list.hasNextPage} settled={settled} />
      {ranked.length === 0 ? (
        <ListEmpty filters={filters} />
      ) : (
        <ol className="product-list" aria-busy={!settled} start={ranked[0]?.rank}>
          {ranked.map(({ product, rank }) => (
            <li key={product.id}>
              <ProductCard product={product} rank={rank} vote={renderVote(product)} />
            </li>
          ))}
        </ol>
      )}
      {settled && <LoadMore list={list} filters={filters} />}
    </>
  );
}

/** Products of all pages with their ranks. A product that moved to a later page while paging is shown once. */
function rankedProducts({ pages, pageParams }: PagedProducts): { product: Product; rank: number }[] {
  const seen = new Set<string>();
  return pages.flatMap(({ items }, pageIndex) =>
    items.flatMap((product, index) => {
      if (seen.has(product.id)) return [];
      seen.add(product.id);
      return [{ product, rank: rankOf(pageParams[pageIndex]?.page ?? 1, index) }];
    }),
  );
}
