import { listHref, type ProductFilters } from '../../features/products/filters.ts';
import type { PageHead } from '../../lib/page-head.ts';

export const HOME_DESCRIPTION = 'The place to discover and launch innovative tech products. Explore the wave.';

/** The document's title for a list. */
function homeTitle({ q, tag, page }: ProductFilters, siteName: string): string {
  const what = q ? `“${q}”` : tag ? `${tag} products` : 'Top Products Launching Today';
  return `${what}${page ? `, page ${page}` : ''} · ${siteName}`;
}

/**
 * The head of a list. What is found by search engines is the list and the list of each tag: an order shows the same
 * products, a later page moves with every launch, and a search is somebody's own.
 */
export function homeHead(filters: ProductFilters, siteName: string, { empty = false } = {}): PageHead {
  const { q, tag } = filters;
  const head = {
    title: homeTitle(filters, siteName),
    description: tag && !q ? `Tech products tagged ${tag}. ${HOME_DESCRIPTION}` : HOME_DESCRIPTION,
  };
  if (q || (tag && empty)) return { ...head, noindex: true };
  // A tag is the same in capitals.
  return { ...head, canonical: listHref(tag ? { tag: tag.toLowerCase() } : {}) };
}
