import * as paths from './paths/site.ts';

/**
 * The URL paths that browser and server share. No other file should build paths. This is a namespace import, so a
 * bundle contains only the paths that it uses.
 */
export { paths };
