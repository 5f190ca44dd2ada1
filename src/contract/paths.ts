import * as paths from './paths/site.ts';

/**
 * All URL paths shared by browser and server; no other file builds any. This is a namespace import, so a bundle
 * contains only the paths that it uses.
 */
export { paths };
