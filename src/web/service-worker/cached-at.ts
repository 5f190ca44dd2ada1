/** The header with the time at which the service worker cached the response, in ISO 8601. */
export const CACHED_AT_HEADER = 'X-Cached-At';

/**
 * Returns the time at which this document was cached, an empty string for the offline shell, or undefined if the
 * document came from the network.
 */
export function cachedAt(): string | undefined {
  return document.documentElement.dataset.cachedAt;
}
