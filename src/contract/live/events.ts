/**
 * The events of `GET /api/events`, for `EventSource`. Events contain current values instead of deltas, so repeated
 * events are harmless. A stream reports only changes after its start, unless the client passes `since`.
 */
export const LIVE_EVENTS = {
  /** `LiveCounts[]`: products whose counts may have changed. */
  counts: 'counts',
  /** `LiveComment[]`: comments that became public or got likes, on the products of the subscription. */
  comments: 'comments',
  /** `{}`: products were added, edited, removed or launched, or leaderboards changed other than by new votes. */
  catalogue: 'catalogue',
  /** `{}`: changes may have been missed; refetch the visible data. */
  refetch: 'refetch',
} as const;

/** The query parameters of the stream. */
export const LIVE_PARAMETERS = {
  /** Comma-separated product ids. Without them, the stream reports the counts of all products, but no comments. */
  products: 'products',
  /**
   * Unix time in milliseconds: the id of an event, or the server's time when a page was rendered. The stream first
   * sends the changes since then. `Last-Event-ID`, which a reconnecting `EventSource` sends, takes precedence.
   */
  since: 'since',
} as const;

/** Maximum number of events of each kind per second and stream. */
export const LIVE_FRAMES_PER_SECOND = 4;

/** Seconds between heartbeats. After twice as long without data, a client considers the connection lost. */
export const LIVE_HEARTBEAT_S = 25;
