import { paths } from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import type { ProductFilters } from '../../features/products/filters.ts';
import { HOME_DESCRIPTION } from './head.ts';

interface ListData {
  siteName: string;
  siteUrl: string;
  filters: ProductFilters;
  products: readonly Product[];
  /** The rank of the first product. */
  firstRank: number;
}

/** The list for search engines: its products in order, and on the home page the site and its search. */
export function listStructuredData({ siteName, siteUrl, filters, products, firstRank }: ListData): object[] {
  const list = {
    '@type': 'ItemList',
    name: filters.tag ? `${filters.tag} products` : 'Top Products Launching Today',
    numberOfItems: products.length,
    itemListElement: products.map(({ id }, index) => ({
      '@type': 'ListItem',
      position: firstRank + index,
      url: siteUrl + paths.product(id),
    })),
  };
  const items = products.length > 0 ? [list] : [];
  return paths.list(filters) === paths.home ? [website(siteName, siteUrl), ...items] : items;
}

function website(siteName: string, siteUrl: string): object {
  return {
    '@type': 'WebSite',
    '@id': `${siteUrl}/#website`,
    name: siteName,
    url: siteUrl + paths.home,
    description: HOME_DESCRIPTION,
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${siteUrl}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}
