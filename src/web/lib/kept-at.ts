/** When a copy was made that the service worker gives in place of an answer: ISO 8601. */
export const KEPT_AT_HEADER = 'X-Kept-At';

/** The same on the root element of a document: `data-kept-at`. */
export function keptAt(): string | undefined {
  return document.documentElement.dataset.keptAt;
}
