/** Header with the time at which the service worker cached the response, in ISO 8601. */
export const CACHED_AT_HEADER = 'X-Cached-At';

/** When this document was cached, from `data-cached-at` of its root element; undefined if it came from the network. */
export function cachedAt(): string | undefined {
  return document.documentElement.dataset.cachedAt;
}
