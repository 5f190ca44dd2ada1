/** For responses that any cache may store but must revalidate each time. The ETag makes revalidation cheap. */
export const REVALIDATE = 'public, no-cache';

/**
 * For pages, which are the same for every visitor: a browser revalidates each time; a shared cache may serve them for a
 * second, for another second while it revalidates, and for a day while the site is unreachable.
 */
export const PAGE_CACHING = 'public, max-age=0, s-maxage=1, stale-while-revalidate=1, stale-if-error=86400';

/** For a response that may be newer than the shared one, because it must show the visitor's own write. */
export const OWN_WRITE = 'private, no-cache';

/** For responses that are for one visitor only, or not worth caching. */
export const NO_STORE = 'no-store';
