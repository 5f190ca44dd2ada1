import { open } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A larger file is no picture for a tile of 236 pixels. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the picture at an address of a product's; undefined where the site itself does not have it. */
export type ReadOwnPicture = (address: string) => Promise<Buffer | undefined>;

/**
 * Reads pictures that lie in the site's own folders, each named by the beginning of the addresses in it. Nothing is ever fetched: an address elsewhere is whatever somebody wrote into a
 * product, and asking for it would let them send the server anywhere.
 */
export function ownPictures(folders: Readonly<Record<string, string | undefined>>): ReadOwnPicture {
  return async (address) => {
    const [prefix, folder] = Object.entries(folders).find(([beginning]) => address.startsWith(beginning)) ?? [];
    if (prefix === undefined || !folder) return undefined;
    const path = pathBelow(folder, address.slice(prefix.length));
    if (path === undefined) return undefined;
    const file = await open(path).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const stats = await file.stat();
      return stats.isFile() && stats.size <= MAX_BYTES ? await file.readFile() : undefined;
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
    // Not a valid address, so none of ours.
    return undefined;
  }
}
