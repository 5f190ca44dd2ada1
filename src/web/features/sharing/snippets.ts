import { type BadgeTheme, paths } from '../../../contract/paths.ts';

export type SnippetFormat = 'html' | 'markdown';

/** What is shared: a product, and where it is to be found. */
export interface SharedProduct {
  id: string;
  name: string;
  siteName: string;
  /** The origin of absolute links, without a slash at the end. */
  siteUrl: string;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function productUrl({ id, siteUrl }: SharedProduct): string {
  return siteUrl + paths.product(id);
}

/** What to paste into another page, so that it shows the badge with the live count and links here. */
export function badgeSnippet(product: SharedProduct, theme: BadgeTheme, format: SnippetFormat): string {
  const url = productUrl(product);
  const picture = product.siteUrl + paths.badge(product.id, theme);
  const words = `${product.name.replace(/\s+/g, ' ')} on ${product.siteName}`;
  if (format === 'markdown') return `[![${words.replace(/[\\[\]`*_<>]/g, '\\$&')}](${picture})](${url})`;
  const encode = (text: string) => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
  return `<a href="${encode(url)}"><img src="${encode(picture)}" alt="${encode(words)}"></a>`;
}
