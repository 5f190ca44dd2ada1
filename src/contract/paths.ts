import * as paths from './paths/site.ts';

/**
 * Every address shared by browser and server. No other file builds one. A namespace, so a bundle contains only what it
 * uses.
 */
export { paths };
