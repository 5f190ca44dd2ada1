/** Bounds that browser and server agree on. A unit stands last in a name where it is not a plain count. */
export const LIMITS = {
  /** Items on one page of any list. */
  pageSize: { default: 30, max: 100 },
  /** Products that the site shows at a time: what a phone of the middle brings to life without a hitch. */
  listedProducts: 20,
  /** Product ids in one question about upvotes. */
  upvoteQueryProducts: 100,
  /** Products that one stream of events names. */
  eventProducts: 100,
  /** Unicode code points of a comment after trimming. */
  commentCharacters: 2_000,
  /** Unicode code points of a search term. */
  searchCharacters: 200,
  tagCharacters: 60,
  cursorCharacters: 512,
  /** Hours for which an idempotency key stands for the comment it made. */
  idempotencyKeyHours: 24,
  /** A JSON request body. */
  bodyBytes: 16 * 1024,
  /** Tags that a card of the list shows. */
  cardTags: 3,
} as const;
