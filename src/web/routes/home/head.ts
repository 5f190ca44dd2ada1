import { paths } from '../../../contract/paths.ts';
import { type ProductFilters, pageNumberOf } from '../../features/products/filters.ts';
import type { PageHead } from '../../routing/document-head.ts';

export const HOME_DESCRIPTION = 'The place to discover and launch innovative tech products. Explore the wave.';

/** The document's title for a list. */
function homeTitle(filters: ProductFilters, siteName: string): string {
  const { q, tag } = filters;
  const page = pageNumberOf(filters);
  const what = q ? `“${q}”` : tag ? `${tag} products` : 'Top Products Launching Today';
  return `${what}${page ? `, page ${page}` : ''} · ${siteName}`;
}

/**
 * The head of a list. Only the list and the list of each tag are indexed: an order shows the same products, later
 * pages move with every launch, and searches are personal.
 */
export function homeHead(filters: ProductFilters, siteName: string, { empty = false } = {}): PageHead {
  const { q, tag } = filters;
  const head = {
    title: homeTitle(filters, siteName),
    description: tag && !q ? `Tech products tagged ${tag}. ${HOME_DESCRIPTION}` : HOME_DESCRIPTION,
  };
  if (q || (tag && empty)) return { ...head, noindex: true };
  // A tag ignores case.
  return { ...head, canonical: paths.list(tag ? { tag: tag.toLowerCase() } : {}) };
}
