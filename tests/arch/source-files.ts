import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** Returns all files below folders of the project, as sorted paths from its root with forward slashes. */
export async function filesBelow(...folders: string[]): Promise<string[]> {
  const lists = await Promise.all(
    folders.map(async (folder) => {
      if (!existsSync(join(ROOT, folder))) return [];
      const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
    }),
  );
  return lists
    .flat()
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.includes('/node_modules/'))
    .sort();
}

/** Reads a text file of the project, by its path from the root. */
export function readText(path: string): Promise<string> {
  return readFile(join(ROOT, path), 'utf8');
}
