/** The time of a copy that the service worker serves, in ISO 8601. */
export const CACHED_AT_HEADER = 'X-Cached-At';

/** The same on the root element of a document: `data-cached-at`. */
export function cachedAt(): string | undefined {
  return document.documentElement.dataset.cachedAt;
}
