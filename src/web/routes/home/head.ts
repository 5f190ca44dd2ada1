import * as paths from '../../../contract/paths.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { taglineOf } from '../../../contract/site.ts';
import { type ProductFilters, pageNumberOf } from '../../features/products/filters.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

/** Returns the document title of a list. */
function homeTitle(filters: ProductFilters, siteName: string): string {
  const { q, tag } = filters;
  const page = pageNumberOf(filters);
  const what = q ? t('“{term}”', { term: q }) : tag ? t('{tag} products', { tag }) : t('Top Products Launching Today');
  return `${page ? t('{list}, page {page}', { list: what, page }) : what} · ${siteName}`;
}

/**
 * Returns the head of a list. Only the whole list and the list of each tag are indexed: another order shows the same
 * products, later pages change with every launch, and the number of possible searches is unlimited.
 */
export function homeHead(filters: ProductFilters, site: SiteWords, { empty = false } = {}): PageHead {
  const { q, tag } = filters;
  const tagline = translated(taglineOf(site));
  const head = {
    title: homeTitle(filters, site.name),
    description: tag && !q ? `${t('Tech products tagged {tag}.', { tag })} ${tagline}` : tagline,
  };
  if (q || (tag && empty)) return { ...head, noindex: true };
  // Tags ignore case, so the canonical URL has them in lower case.
  return { ...head, canonical: paths.list(tag ? { tag: tag.toLowerCase() } : {}) };
}

interface ListData {
  site: SiteWords;
  siteUrl: string;
  filters: ProductFilters;
  products: readonly Product[];
  /** The rank of the first product in `products`. */
  firstRank: number;
}

/**
 * Returns the structured data of a list for search engines: its products in order and, on the home page, the site and
 * its search.
 */
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
