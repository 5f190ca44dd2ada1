import * as paths from './paths/site.ts';

/**
 * The URL paths of the site, except those of the console and of submissions. This is a namespace import, so a bundle
 * contains only the paths that it uses.
 */
export { paths };
