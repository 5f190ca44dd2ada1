import { PRODUCT_DEFAULTS } from '../../contract/products/defaults.ts';
import type { Product } from '../../contract/products/schema.ts';

/** What is kept of a product; its counts are derived. */
export type StoredProduct = Omit<Product, 'upvotes' | 'comments'>;

/** A product as somebody hands it in: only the id must be there. */
export type PartialProduct = Pick<Product, 'id'> & {
  [Field in keyof Omit<StoredProduct, 'id'>]?: StoredProduct[Field] | undefined;
};

/** Fills in the defaults of the specification where a field is missing or blank. */
export function completeProduct(partial: PartialProduct, now: Date): StoredProduct {
  const text = (field: keyof typeof PRODUCT_DEFAULTS) => partial[field]?.trim() || PRODUCT_DEFAULTS[field];
  return {
    id: partial.id,
    name: text('name'),
    description: text('description'),
    image: text('image'),
    tags: partial.tags ?? [],
    category: text('category'),
    maker: text('maker'),
    launchDate: text('launchDate'),
    team: partial.team ?? [],
    screenshots: partial.screenshots ?? [],
    createdAt: partial.createdAt ?? now.toISOString(),
  };
}
