/** May be kept by everyone, and is asked about each time: the ETag makes that cheap. */
export const REVALIDATE = 'public, no-cache';

/**
 * The same for every visitor: a browser asks each time, a shared cache in between may answer for a second by itself, one
 * more while it asks, and for a day while the site cannot be reached.
 */
export const PAGE = 'public, max-age=0, s-maxage=1, stale-while-revalidate=1, stale-if-error=86400';

/** Newer than what others are given, for the one visitor whose write it shows. */
export const OWN = 'private, no-cache';

/** Personal, or not worth keeping. */
export const NO_STORE = 'no-store';
