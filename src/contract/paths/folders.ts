/**
 * The path prefixes of files: the build's assets, bundled pictures, the site's own pictures (uploaded or imported), and
 * the operator's logo. This file is separate from `paths.ts`, so the initial bundle does not contain it.
 */
export const FOLDERS = {
  assets: '/assets/',
  pictures: '/pictures/',
  images: '/images/',
  brand: '/brand/',
} as const;
