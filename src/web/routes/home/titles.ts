import type { ProductFilters } from '../../features/products/filters.ts';

export const HOME_DESCRIPTION = 'The place to discover and launch innovative tech products. Explore the wave.';

/** The document's title for a list. */
export function homeTitle({ q, tag, page }: ProductFilters, siteName: string): string {
  const what = q ? `“${q}”` : tag ? `${tag} products` : 'Top Products Launching Today';
  return `${what}${page ? `, page ${page}` : ''} · ${siteName}`;
}
