/** A product's id is a URL-safe text key; an import may bring its own, for example a slug. */
export const PRODUCT_ID_PATTERN = '^[a-z0-9-]{1,64}$';

const PRODUCT_ID = new RegExp(PRODUCT_ID_PATTERN);

/** Whether a text could be a product's id at all; one that could not names no product. */
export function isProductId(text: string): boolean {
  return PRODUCT_ID.test(text);
}
