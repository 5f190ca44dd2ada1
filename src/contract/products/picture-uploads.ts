/** Limits of uploaded pictures, and the sizes of stored pictures. */
export const PICTURE_UPLOADS = {
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'image/gif'],
  maxBytes: 5 * 1024 * 1024,
  /** Maximum number of pixels (width × height) of the first frame. */
  maxPixels: 40_000_000,
  /** Maximum width and height. Extreme proportions are slow to scale: 1 × 40,000,000 pixels would take 17 seconds. */
  maxSidePixels: 32_768,
  /** The width and height of a product's stored image. */
  imagePixels: 512,
  /** Maximum length of a screenshot's longer side. Smaller screenshots keep their size. */
  screenshotPixels: 1_600,
} as const;

export const PICTURE_TOO_LARGE = `The file is larger than ${PICTURE_UPLOADS.maxBytes / 2 ** 20} MiB.`;

export type PictureMediaType = (typeof PICTURE_UPLOADS.mediaTypes)[number];

/** The use of a picture. An `image` becomes a square; a `screenshot` keeps its proportions. */
export type PictureUse = 'image' | 'screenshot';
