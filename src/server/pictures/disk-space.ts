import { CoreError } from '../../core/core-error.ts';
import { type MeasureDisk, measureDisk } from '../../core/file-system.ts';
import { makePictureFolder } from '../../core/pictures/picture-store.ts';
import type { Log } from '../../core/runtime.ts';

/** The free space that pictures leave to the database: a GiB, or a tenth of a disk of less than 10 GiB. */
const RESERVED_BYTES = 2 ** 30;
const RESERVED_SHARE = 0.1;

/**
 * Returns a function that checks whether the disk of a folder has free space for pictures. The function logs each
 * change, and throws CoreError `overloaded` while there is too little.
 */
export function createDiskSpaceCheck(
  folder: string,
  log: Pick<Log, 'info' | 'warn'>,
  measure: MeasureDisk = measureDisk,
): () => Promise<void> {
  let wasFull = false;
  return async () => {
    // The folder does not exist before the first picture.
    await makePictureFolder(folder);
    const { free, all } = await measure(folder);
    const isFull = free < Math.min(RESERVED_BYTES, all * RESERVED_SHARE);
    if (isFull && !wasFull) {
      log.warn(
        { folder, freeBytes: free },
        'The disk is nearly full; refusing pictures. Free some space, or move DATA_DIR to a larger disk while the site is stopped',
      );
    } else if (wasFull && !isFull) log.info({ folder, freeBytes: free }, 'The disk has free space for pictures again');
    wasFull = isFull;
    if (isFull) throw new CoreError('overloaded', 'Pictures cannot be stored at present. Please try again later.');
  };
}
