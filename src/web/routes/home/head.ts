import { taglineOf } from '../../../contract/brand.ts';
import { paths } from '../../../contract/paths.ts';
import { type ProductFilters, pageNumberOf } from '../../features/products/filters.ts';
import { t, translated } from '../../language/translate.ts';
import type { PageHead, SiteWords } from '../../routing/document-head.ts';

/** The document's title for a list. */
function homeTitle(filters: ProductFilters, siteName: string): string {
  const { q, tag } = filters;
  const page = pageNumberOf(filters);
  const what = q ? t('“{term}”', { term: q }) : tag ? t('{tag} products', { tag }) : t('Top Products Launching Today');
  return `${page ? t('{list}, page {page}', { list: what, page }) : what} · ${siteName}`;
}

/**
 * The head of a list. Only the list and the list of each tag are indexed: an order shows the same products, later
 * pages move with every launch, and searches are personal.
 */
export function homeHead(filters: ProductFilters, site: SiteWords, { empty = false } = {}): PageHead {
  const { q, tag } = filters;
  const tagline = translated(taglineOf(site));
  const head = {
    title: homeTitle(filters, site.name),
    description: tag && !q ? `${t('Tech products tagged {tag}.', { tag })} ${tagline}` : tagline,
  };
  if (q || (tag && empty)) return { ...head, noindex: true };
  // A tag ignores case.
  return { ...head, canonical: paths.list(tag ? { tag: tag.toLowerCase() } : {}) };
}
