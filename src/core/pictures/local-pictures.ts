import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { type PictureKind, pictureAddress, pictureKindOf, pictureName, storePicture } from './picture-store.ts';

/** Larger than any picture that a page of products should load. */
export const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

/** A name for which no picture can be imported; the message says why. */
export class PictureError extends Error {
  override readonly name = 'PictureError';
}

/**
 * The operator's pictures in one folder: each is checked when a row names it, and all are copied once the whole file is
 * valid.
 */
export class LocalPictures {
  readonly #folder: string;
  /** Names in the store by names in the folder: many products may share a picture. */
  readonly #taken = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws PictureError if the folder does not exist. */
  static async open(folder: string): Promise<LocalPictures> {
    const path = await realpath(folder).catch(() => undefined);
    if (path === undefined || !(await stat(path)).isDirectory()) throw new PictureError(`There is no folder ${folder}`);
    return new LocalPictures(path);
  }

  get count(): number {
    return this.#taken.size;
  }

  /**
   * Checks a picture of the folder.
   * @returns its address on the site.
   * @throws PictureError if it cannot be imported.
   */
  async take(name: string): Promise<string> {
    let stored = this.#taken.get(name);
    if (stored === undefined) {
      const { content, kind } = await this.#read(name);
      stored = pictureName(content, kind);
      this.#taken.set(name, stored);
    }
    return pictureAddress(stored);
  }

  /** Copies the checked pictures into a store. @throws PictureError if a picture has changed since the check. */
  async copyTo(store: string): Promise<void> {
    for (const [name, stored] of this.#taken) {
      const { content, kind } = await this.#read(name);
      if (pictureName(content, kind) !== stored) throw new PictureError(`'${name}' changed during the import`);
      await storePicture(store, stored, content);
    }
  }

  async #read(name: string): Promise<{ content: Buffer; kind: PictureKind }> {
    const content = await this.#contentOf(await this.#pathOf(name), name);
    const kind = pictureKindOf(content);
    if (kind === undefined) throw new PictureError(`'${name}' is not a PNG, JPEG, GIF, WebP, AVIF or SVG picture`);
    return { content, kind };
  }

  /** The real path, so neither `..` nor a link can lead out of the folder. */
  async #pathOf(name: string): Promise<string> {
    const path = await realpath(resolve(this.#folder, name)).catch(() => undefined);
    if (path === undefined) throw new PictureError(`'${name}' is not in the folder of pictures`);
    const way = relative(this.#folder, path);
    if (way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
      throw new PictureError(`'${name}' is outside the folder of pictures`);
    }
    return path;
  }

  async #contentOf(path: string, name: string): Promise<Buffer> {
    let file: FileHandle | undefined;
    try {
      // Opening a pipe would block, and a link may have replaced the file since the check.
      file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const stats = await file.stat();
      if (!stats.isFile()) throw new PictureError(`'${name}' is not a file`);
      if (stats.size > MAX_PICTURE_BYTES) {
        throw new PictureError(`'${name}' is larger than ${MAX_PICTURE_BYTES / 1024 / 1024} MiB`);
      }
      return await file.readFile();
    } catch (error) {
      if (error instanceof PictureError) throw error;
      throw new PictureError(`'${name}' cannot be read: ${error instanceof Error ? error.message : error}`);
    } finally {
      await file?.close();
    }
  }
}
