import type { Product } from '../../../contract/products/schema.ts';

const DESCRIPTION_CHARACTERS = 160;

export function productTitle(product: Product | undefined | null, siteName: string): string {
  return `${product ? product.name : 'Product not found'} · ${siteName}`;
}

/** The first words of a product's description, as one line for search engines and link previews. */
export function productSummary({ description }: Product): string {
  const characters = Array.from(description.replace(/\s+/g, ' ').trim());
  if (characters.length <= DESCRIPTION_CHARACTERS) return characters.join('');
  return `${characters
    .slice(0, DESCRIPTION_CHARACTERS - 1)
    .join('')
    .trimEnd()}…`;
}
