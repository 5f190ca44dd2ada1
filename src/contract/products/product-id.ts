/** A product's id is a URL-safe text key, for example a slug; imports may set it. */
export const PRODUCT_ID_PATTERN = '^[a-z0-9-]{1,64}$';

const PRODUCT_ID = new RegExp(PRODUCT_ID_PATTERN);

/** Returns whether a text has the form of a product id. */
export function isProductId(text: string): boolean {
  return PRODUCT_ID.test(text);
}
