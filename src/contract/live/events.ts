/**
 * What `GET /api/events` says, for `EventSource`. Every frame carries the present state, never a difference, so that one
 * that comes twice does no harm. A stream begins with what changes from then on: a client that shows something older gives
 * `since`.
 */
export const LIVE_EVENTS = {
  /** `LiveCounts[]`: products whose counts may have changed. */
  counts: 'counts',
  /** `LiveComment[]`: comments of the named products that are new or were liked. */
  comments: 'comments',
  /** `{}`: products were added, edited or removed. */
  catalogue: 'catalogue',
  /** `{}`: changes may have been missed; what is shown has to be read again. */
  refetch: 'refetch',
} as const;

/**
 * The parameters of the address. `products`: ids, separated by commas; without it all counts. `since`: a moment in
 * milliseconds since 1970 (the id of a frame, or the server's time at which a page was made) from which on changes are sent
 * first. A reconnecting `EventSource` says the same by itself, in the header `Last-Event-ID`, which counts instead.
 */
export const LIVE_PARAMETERS = { products: 'products', since: 'since' } as const;

/** The most a stream says in a second, of each kind of event. */
export const LIVE_FRAMES_PER_SECOND = 4;

/** Something comes at least so often, in seconds; a client that hears nothing for twice as long has lost the server. */
export const LIVE_HEARTBEAT_S = 25;
