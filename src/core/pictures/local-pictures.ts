import { type FileHandle, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { openRegularFile } from '../file-system.ts';
import { type PictureKind, pictureAddress, pictureKindOf, pictureName, storePicture } from './picture-store.ts';

/** The maximum size of a picture. Product pages should not load larger ones. */
export const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

/** Thrown if a picture cannot be imported, or its folder cannot be opened. The message gives the reason. */
export class PictureError extends Error {
  override readonly name = 'PictureError';
}

/**
 * Imports pictures from the operator's folder. Each picture is checked when a row of the import file refers to it. All
 * are copied after the whole import file has been validated.
 */
export class LocalPictures {
  readonly #folder: string;
  /** Maps names in the folder to names in the store, because products may share a picture. */
  readonly #storedNames = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens a folder. @throws PictureError if it does not exist or is not accessible. */
  static async open(folder: string): Promise<LocalPictures> {
    const path = await realpath(folder).catch(() => undefined);
    if (path === undefined || !(await stat(path)).isDirectory())
      throw new PictureError(
        `The picture folder ${folder} does not exist, is not a folder, or is not accessible: correct the path or its permissions`,
      );
    return new LocalPictures(path);
  }

  get count(): number {
    return this.#storedNames.size;
  }

  /**
   * Checks a picture in the folder.
   * @returns its URL path on the site.
   * @throws PictureError if it cannot be imported.
   */
  async add(name: string): Promise<string> {
    let stored = this.#storedNames.get(name);
    if (stored === undefined) {
      const { content, kind } = await this.#read(name);
      stored = pictureName(content, kind);
      this.#storedNames.set(name, stored);
    }
    return pictureAddress(stored);
  }

  /** Copies the checked pictures into a store. @throws PictureError if a picture has changed since the check. */
  async copyTo(store: string): Promise<void> {
    for (const [name, stored] of this.#storedNames) {
      const { content, kind } = await this.#read(name);
      if (pictureName(content, kind) !== stored)
        throw new PictureError(`'${name}' changed during the import: run the import again`);
      await storePicture(store, stored, content);
    }
  }

  async #read(name: string): Promise<{ content: Buffer; kind: PictureKind }> {
    const content = await this.#contentOf(await this.#pathOf(name), name);
    const kind = pictureKindOf(content);
    if (kind === undefined) throw new PictureError(`'${name}' is not a PNG, JPEG, GIF, WebP, AVIF or SVG picture`);
    return { content, kind };
  }

  /**
   * Returns the real path of a picture. Names that point outside the folder, by `..` or by a symbolic link, are
   * refused.
   */
  async #pathOf(name: string): Promise<string> {
    const path = await realpath(resolve(this.#folder, name)).catch(() => undefined);
    if (path === undefined) throw new PictureError(`'${name}' is not in the picture folder`);
    const relativePath = relative(this.#folder, path);
    if (
      relativePath === '' ||
      relativePath === '..' ||
      relativePath.startsWith(`..${sep}`) ||
      isAbsolute(relativePath)
    ) {
      throw new PictureError(`'${name}' is outside the picture folder`);
    }
    return path;
  }

  async #contentOf(path: string, name: string): Promise<Buffer> {
    let file: FileHandle | undefined;
    try {
      // A symbolic link may have replaced the file since the check.
      file = await openRegularFile(path);
      if (file === undefined) throw new PictureError(`'${name}' is not a file`);
      if ((await file.stat()).size > MAX_PICTURE_BYTES) {
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
