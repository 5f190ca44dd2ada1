/**
 * The events of `GET /api/events`, for `EventSource`. Every frame has the current state, never a difference, so
 * repeats are harmless. A stream begins with changes from then on: a client with older data passes `since`.
 */
export const LIVE_EVENTS = {
  /** `LiveCounts[]`: products whose counts may have changed. */
  counts: 'counts',
  /** `LiveComment[]`: comments of the named products that are new or were liked. */
  comments: 'comments',
  /** `{}`: products were added, edited or removed. */
  catalogue: 'catalogue',
  /** `{}`: changes may have been missed; refetch the visible data. */
  refetch: 'refetch',
} as const;

/**
 * The parameters of the address. `products`: ids, separated by commas; without it all counts. `since`: a moment in
 * milliseconds since 1970 (the id of a frame, or the server's time at which a page was rendered) from which changes
 * are sent first. A reconnecting `EventSource` sends it in the header `Last-Event-ID`, which takes precedence.
 */
export const LIVE_PARAMETERS = { products: 'products', since: 'since' } as const;

/** Maximum events per second, of each kind. */
export const LIVE_FRAMES_PER_SECOND = 4;

/** Maximum silence, in seconds; after twice as long, the connection is lost. */
export const LIVE_HEARTBEAT_S = 25;
