/** The time of a copy that the service worker serves, in ISO 8601. */
export const CACHED_AT_HEADER = 'X-Cached-At';

/** When this document was cached, as its root element says (`data-cached-at`); undefined if it came from the network. */
export function cachedAt(): string | undefined {
  return document.documentElement.dataset.cachedAt;
}
