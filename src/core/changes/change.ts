/** What a transaction changed, for those who keep answers or tell open pages. */
export interface Change {
  /** Products whose counts, comments or likes changed. */
  productIds: readonly string[];
  /** Whether products were added, edited or removed as well. */
  catalogue: boolean;
  /** Comments of these products that were written, released or liked, where they are known by name. */
  commentIds?: readonly string[];
}
