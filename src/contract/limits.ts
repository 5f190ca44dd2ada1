/** Bounds shared by browser and server. Names end with their unit, except plain counts. */
export const LIMITS = {
  /** Items on one page of any list. */
  pageSize: { default: 30, max: 100 },
  /** Products rendered at a time: as many as a mid-range phone hydrates smoothly. */
  listedProducts: 20,
  /** Every launch collects votes for this long. */
  launchWindowHours: 24,
  /** Counted votes for one product from one network in a launch window; VOTES_PER_NETWORK sets another number. */
  votesPerNetwork: 20,
  /** Product ids per request for upvotes. */
  upvoteQueryProducts: 100,
  /** Products that one stream of events names. */
  eventProducts: 100,
  /** Unicode code points of a comment after trimming. */
  commentCharacters: 2_000,
  /** Unicode code points of a search term. */
  searchCharacters: 200,
  tagCharacters: 60,
  cursorCharacters: 512,
  /** Hours for which an idempotency key stands for its comment. */
  idempotencyKeyHours: 24,
  /** A JSON request body. */
  bodyBytes: 16 * 1024,
  /** Related products of a product. */
  relatedProducts: 6,
  /** Tags that a card of the list shows. */
  cardTags: 3,
} as const;
