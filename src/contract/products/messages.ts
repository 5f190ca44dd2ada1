/** The specification's texts about products. */
export const PRODUCT_MESSAGES = {
  notFound: 'Product not found',
  fetchFailed: (message: string) => `Failed to fetch products: ${message}`,
} as const;
