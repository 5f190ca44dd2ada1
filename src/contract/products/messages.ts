/** The messages about products that the specification prescribes. */
export const PRODUCT_MESSAGES = {
  notFound: 'Product not found',
  fetchFailed: (message: string) => `Failed to fetch products: ${message}`,
} as const;
