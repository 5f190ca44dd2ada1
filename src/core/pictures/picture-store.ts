import { createHash, randomUUID } from 'node:crypto';
import { access, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOpenFolder } from '../database/embedded/data-dir.ts';
import type { PictureKind } from './picture-kind.ts';

/** The name of a picture in the store: what is in it, so that a name never stands for anything else. */
export const PICTURE_NAME = /^[0-9a-f]{40}\.(?:png|jpg|gif|webp|avif|svg)$/;

/** Where the site's own pictures lie, beside its embedded database where it has one. */
export function pictureFolder(dataDir: string): string {
  return join(dataDir, 'images');
}

/** Where the site serves a picture of its store. */
export function pictureAddress(name: string): string {
  return `/images/${name}`;
}

export function pictureName(content: Buffer, kind: PictureKind): string {
  return `${createHash('sha256').update(content).digest('hex').slice(0, 40)}.${kind}`;
}

/**
 * Puts a picture into the store; one that is there stays. Written aside and renamed, so that nobody is served half of it,
 * and on the disk before any row can name it.
 */
export async function storePicture(folder: string, name: string, content: Buffer): Promise<void> {
  const path = join(folder, name);
  if (await exists(path)) return;
  await makeOpenFolder(folder);
  const aside = join(folder, `.${name}.${randomUUID()}`);
  try {
    const file = await open(aside, 'wx', 0o644);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
