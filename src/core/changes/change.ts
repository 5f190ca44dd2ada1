/** What a transaction changed, for those who keep answers. */
export interface Change {
  /** Products whose counts, comments or likes changed. */
  productIds: readonly string[];
  /** Whether products were added, edited or removed as well. */
  catalogue: boolean;
}
