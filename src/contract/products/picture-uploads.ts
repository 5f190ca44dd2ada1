/** Bounds of uploaded pictures, and the sizes of the stored ones. */
export const PICTURE_UPLOADS = {
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/avif', 'image/gif'],
  maxBytes: 5 * 1024 * 1024,
  /** Width times height, of the first frame where there are several. */
  maxPixels: 40_000_000,
  /** Scaling pictures of extreme proportions takes long: 17 seconds for 1 × 40,000,000 pixels. */
  maxSidePixels: 32_768,
  /** The sides of a product's square image. */
  imagePixels: 512,
  /** The longer side of a screenshot at most; smaller ones keep their size. */
  screenshotPixels: 1_600,
} as const;
