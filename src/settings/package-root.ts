import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The folder of the package, which contains migrations and the catalogue: the nearest folder above this file that has a
 * package.json.
 */
export const PACKAGE_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version of the package, such as `1.2.3`. */
export const PACKAGE_VERSION: string = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')).version;

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('Cannot find the package.json of Groundswell. Install the package again.');
  return findRoot(parent);
}

/** Folders of the package that are read at run time. */
export const PACKAGE_FOLDERS = {
  migrations: join(PACKAGE_ROOT, 'migrations'),
  catalogue: join(PACKAGE_ROOT, 'catalogue'),
  pictures: join(PACKAGE_ROOT, 'catalogue', 'pictures'),
  client: join(PACKAGE_ROOT, 'dist', 'client'),
  console: join(PACKAGE_ROOT, 'dist', 'console'),
  server: join(PACKAGE_ROOT, 'dist', 'server'),
  cardFonts: join(PACKAGE_ROOT, 'assets', 'card-fonts'),
} as const;
