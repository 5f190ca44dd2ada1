import { join, relative, sep } from 'node:path';
import { openRegularFile } from '../../core/file-system.ts';
import { MAX_PICTURE_BYTES } from '../../core/pictures/local-pictures.ts';

/** Reads the picture at an address. @returns undefined if the picture is not a file of the site, or is too large. */
export type ReadOwnPicture = (address: string) => Promise<Buffer | undefined>;

/**
 * Reads pictures from the site's own folders, by the prefix of their URLs. Nothing is fetched over the network, because
 * makers could otherwise make the server request any URL.
 */
export function ownPictures(folders: Readonly<Record<string, string | undefined>>): ReadOwnPicture {
  return async (address) => {
    const [prefix, folder] = Object.entries(folders).find(([beginning]) => address.startsWith(beginning)) ?? [];
    if (prefix === undefined || !folder) return undefined;
    const path = pathBelow(folder, address.slice(prefix.length));
    if (path === undefined) return undefined;
    const file = await openRegularFile(path).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      return size <= MAX_PICTURE_BYTES ? await file.readFile() : undefined;
    } finally {
      await file.close();
    }
  };
}

function pathBelow(folder: string, name: string): string | undefined {
  try {
    const path = join(folder, decodeURIComponent(name.replace(/[?#].*$/s, '')));
    const within = relative(folder, path);
    return path.includes('\0') || within === '' || within.split(sep)[0] === '..' ? undefined : path;
  } catch {
    // The URL contains an invalid escape sequence.
    return undefined;
  }
}
