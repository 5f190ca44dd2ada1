import { type PicturePipeline, pictureAddress, pictureName } from '../../src/core/pictures/picture-store.ts';

/** A pipeline that accepts every picture, stores none, and names it by its bytes. */
export function instantPictures(): PicturePipeline {
  return {
    admit: () => ({
      process: async ({ bytes }) => pictureAddress(pictureName(bytes, 'webp')),
      leave() {},
    }),
  };
}
