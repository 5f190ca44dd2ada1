/** Limits shared by browser and server. Names end with their unit, except plain counts. */
export const LIMITS = {
  /** The default and the maximum number of items on a page of a list. */
  pageSize: { default: 30, max: 100 },
  /** Number of products per page of the list, limited to what a mid-range phone hydrates without a noticeable delay. */
  listedProducts: 20,
  /** Hours after a launch in which its votes count. */
  launchWindowHours: 24,
  /** Maximum product ids per request for upvotes. */
  upvoteQueryProducts: 100,
  /** Maximum products that an event stream can subscribe to. */
  eventProducts: 100,
  /** Maximum Unicode code points of a comment after trimming. */
  commentCharacters: 2_000,
  /** Maximum Unicode code points of a search term. */
  searchCharacters: 200,
  tagCharacters: 60,
  cursorCharacters: 512,
  /** Maximum tags that a card of the list shows. */
  cardTags: 3,
} as const;

/** The default of the setting VOTES_PER_NETWORK: the maximum number of counted votes per network and launch. */
export const VOTES_PER_NETWORK = 20;
