import { taglineOf } from '../../../contract/brand.ts';
import { paths } from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import type { ProductFilters } from '../../features/products/filters.ts';
import { t, translated } from '../../language/translate.ts';
import type { SiteWords } from '../../routing/document-head.ts';

interface ListData {
  site: SiteWords;
  siteUrl: string;
  filters: ProductFilters;
  products: readonly Product[];
  /** The rank of the first product. */
  firstRank: number;
}

/** The list for search engines: its products in order, and on the home page the site and its search. */
export function listStructuredData({ site, siteUrl, filters, products, firstRank }: ListData): object[] {
  const list = {
    '@type': 'ItemList',
    name: filters.tag ? t('{tag} products', { tag: filters.tag }) : t('Top Products Launching Today'),
    numberOfItems: products.length,
    itemListElement: products.map(({ id }, index) => ({
      '@type': 'ListItem',
      position: firstRank + index,
      url: siteUrl + paths.product(id),
    })),
  };
  const items = products.length > 0 ? [list] : [];
  return paths.list(filters) === paths.home ? [website(site, siteUrl), ...items] : items;
}

function website(site: SiteWords, siteUrl: string): object {
  return {
    '@type': 'WebSite',
    '@id': `${siteUrl}/#website`,
    name: site.name,
    url: siteUrl + paths.home,
    description: translated(taglineOf(site)),
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${siteUrl}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}
