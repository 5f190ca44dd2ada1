/** May be kept by everyone, and is asked about each time: the ETag makes that cheap. */
export const REVALIDATE = 'public, no-cache';

/** Personal, or not worth keeping. */
export const NO_STORE = 'no-store';
