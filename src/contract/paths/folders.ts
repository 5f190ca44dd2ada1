/**
 * The paths below which the site serves files: of the build, pictures that come with the site, uploaded pictures, and the
 * operator's logo. This file is separate from `site.ts`, so the first load does not contain it.
 */
export const FOLDERS = {
  assets: '/assets/',
  pictures: '/pictures/',
  images: '/images/',
  brand: '/brand/',
} as const;
