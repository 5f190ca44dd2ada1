import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../database/embedded/embedded-database-error.ts';
import type { PictureKind } from '../pictures/picture-kind.ts';
import { PICTURE_NAME, pictureName, storePicture } from '../pictures/picture-store.ts';

/** Pictures stand in a backup like one more table, a line each. They are named by what is in them. */
export const PICTURES = 'pictures';

/** The names of all pictures in the site's own store, in their order. */
export async function listPictures(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => PICTURE_NAME.test(name)).sort();
  } catch (error) {
    // A site whose pictures all come from elsewhere has no store.
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** A picture as a line, without a line feed. */
export async function pictureLine(folder: string, name: string): Promise<string> {
  return JSON.stringify({ name, content: (await readFile(join(folder, name))).toString('base64') });
}

/**
 * Puts a picture of a backup into the store; one that is there stays.
 * @throws Error where it is not what its name says.
 */
export async function restorePicture(folder: string, line: string): Promise<void> {
  const { name, content: text }: { name: unknown; content: unknown } = JSON.parse(line);
  if (typeof name !== 'string' || typeof text !== 'string' || !PICTURE_NAME.test(name))
    throw new Error('The backup holds something that is no picture of a store');
  const content = Buffer.from(text, 'base64');
  if (pictureName(content, name.slice(name.lastIndexOf('.') + 1) as PictureKind) !== name)
    throw new Error(`The picture ${name} of the backup is not what its name says`);
  await storePicture(folder, name, content);
}
