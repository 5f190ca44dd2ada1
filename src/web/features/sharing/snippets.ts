import type { BadgeTheme } from '../../../contract/paths/site.ts';
import { paths } from '../../../contract/paths.ts';

export type SnippetFormat = 'html' | 'markdown';

/** The shared product and its address. */
export interface SharedProduct {
  id: string;
  name: string;
  siteName: string;
  /** The origin of absolute links, without a trailing slash. */
  siteUrl: string;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function productUrl({ id, siteUrl }: SharedProduct): string {
  return siteUrl + paths.product(id);
}

/** The badge's own size, unknown until its picture has loaded. */
export interface BadgeSize {
  width: number;
  height: number;
}

/** A snippet for other pages that shows the badge with the live count and links here. With its size, the badge moves nothing when it loads. */
export function badgeSnippet(
  product: SharedProduct,
  theme: BadgeTheme,
  format: SnippetFormat,
  size?: BadgeSize,
): string {
  const url = productUrl(product);
  const picture = product.siteUrl + paths.badge(product.id, theme);
  const words = `${product.name.replace(/\s+/g, ' ')} on ${product.siteName}`;
  if (format === 'markdown') return `[![${words.replace(/[\\[\]`*_<>]/g, '\\$&')}](${picture})](${url})`;
  const encode = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
  return `<a href="${encode(url)}"><img src="${encode(picture)}" alt="${encode(words)}"${size ? ` width="${size.width}" height="${size.height}"` : ''}></a>`;
}
