/** Limits that the browser and the server share. Names end with their unit, except those of plain counts. */
export const LIMITS = {
  /** The default and the maximum number of items on a page of a list. */
  pageSize: { default: 30, max: 100 },
  /** Number of products per page of the list, limited to what a mid-range phone hydrates without a noticeable delay. */
  listedProducts: 20,
  /** The length of a launch window in hours. Leaderboards count only votes that are cast in this window. */
  launchWindowHours: 24,
  /** Maximum number of product ids in a request for upvote statuses. */
  upvoteQueryProducts: 100,
  /** Maximum number of products in the subscription of an event stream. */
  eventProducts: 100,
  /** Maximum Unicode code points of a comment after trimming. */
  commentCharacters: 2_000,
  /** Maximum Unicode code points of a search term. */
  searchCharacters: 200,
  tagCharacters: 60,
  cursorCharacters: 512,
  /** Maximum number of tags that a card in the product list shows. */
  cardTags: 3,
} as const;

/** The default of the setting VOTES_PER_NETWORK: maximum counted votes per launch and IPv4 address or IPv6 /64. */
export const VOTES_PER_NETWORK = 20;
