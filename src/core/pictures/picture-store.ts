import { createHash, randomUUID } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FOLDERS } from '../../contract/paths/folders.ts';
import type { PictureMediaType, PictureUse } from '../../contract/products/picture-uploads.ts';
import {
  inFolder,
  makeFolder,
  makeTraversableFolder,
  openRegularFile,
  systemCode,
  writeThenRename,
} from '../file-system.ts';

/** The media types of the accepted formats, by their file extensions in the store. */
const MEDIA_TYPES = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
} as const;
export type PictureKind = keyof typeof MEDIA_TYPES;

/** A picture's name as a regular expression for JavaScript and PostgreSQL, without anchors or capturing groups. */
export const PICTURE_NAME_PATTERN = `[0-9a-f]{40}\\.(?:${Object.keys(MEDIA_TYPES).join('|')})`;
/** Matches the name of a picture in the store: a hash of its content, so a name never refers to another picture. */
export const PICTURE_NAME = new RegExp(`^${PICTURE_NAME_PATTERN}$`);

/** Returns the folder of the site's own pictures, which is next to the embedded database. */
export function pictureFolder(dataDir: string): string {
  return join(dataDir, 'images');
}

/** Returns the media type of a picture in the store by its name. */
export function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1) as PictureKind];
}

/** Returns the URL path of a picture in the store. */
export function pictureAddress(name: string): string {
  return `${FOLDERS.images}${name}`;
}

export function pictureName(content: Buffer, kind: PictureKind): string {
  return `${createHash('sha256').update(content).digest('hex').slice(0, 40)}.${kind}`;
}

/** Returns whether the name of a picture is the hash of its content. If not, the file is damaged. */
export function isIntact(name: string, content: Buffer): boolean {
  return pictureName(content, name.slice(name.lastIndexOf('.') + 1) as PictureKind) === name;
}

/** Creates the picture folder if it is missing. A folder that root creates belongs to the owner of the data folder. */
export async function makePictureFolder(folder: string): Promise<void> {
  const dataDir = dirname(folder);
  await makeTraversableFolder(dataDir);
  await inFolder(dataDir, (path, giveToOwner) => makeFolder(join(path, basename(folder)), 0o755, giveToOwner));
}

/** Lists the names of all files in the site's own store, including unfinished ones. */
export async function listPictureFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A site without its own pictures has no such folder.
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Lists the names of all pictures in the site's own store, sorted. */
export async function listPictures(folder: string): Promise<string[]> {
  return (await listPictureFolder(folder)).filter((name) => PICTURE_NAME.test(name)).sort();
}

/** Reads a picture of the site's own store. @returns undefined if there is none, or only a link. */
export async function readPicture(folder: string, name: string): Promise<Buffer | undefined> {
  const file = await openRegularFile(join(folder, name));
  return file?.readFile().finally(() => file.close());
}

/**
 * Stores a picture. An existing picture stays unless it is damaged, and its modification time is updated, so it is not
 * deleted as unreferenced. A new picture is written to a temporary file, synced and renamed, so no response or row
 * refers to an incomplete file. A picture that root stores belongs to the owner of its folder.
 */
export async function storePicture(folder: string, name: string, content: Buffer): Promise<void> {
  const stored = await readPicture(folder, name).catch(() => undefined);
  if (stored?.equals(content) && (await touchPicture(folder, name))) return;
  await makePictureFolder(folder);
  await writePicture(folder, name, content);
}

function writePicture(folder: string, name: string, content: Buffer): Promise<void> {
  return inFolder(folder, (path, giveToOwner) => {
    const aside = join(path, `.${name}.${randomUUID()}`);
    return writeThenRename(join(path, name), { aside, mode: 0o644 }, async (file) => {
      await giveToOwner(file);
      await file.writeFile(content);
    });
  });
}

/**
 * Updates the modification time of a picture, so it is not deleted as unreferenced for about a day. A picture that
 * belongs to another user is replaced by a copy, because only its owner may set its time.
 * @returns whether the picture exists.
 */
export async function touchPicture(folder: string, name: string, now = new Date()): Promise<boolean> {
  try {
    await utimes(join(folder, name), now, now);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    if (systemCode(error) !== 'EPERM') throw error;
  }
  const content = await readPicture(folder, name);
  if (content) await writePicture(folder, name, content);
  return content !== undefined;
}

/** The signatures of formats: patterns of the first bytes, decoded as Latin-1. */
const SIGNATURES: readonly { kind: PictureKind; signature: RegExp }[] = [
  { kind: 'png', signature: /^\x89PNG\r\n.\n/ },
  { kind: 'jpg', signature: /^\xff\xd8\xff/ },
  { kind: 'gif', signature: /^GIF8[79]a/ },
  { kind: 'webp', signature: /^RIFF[\s\S]{4}WEBPVP8[ LX]/ },
  { kind: 'avif', signature: /^[\s\S]{4}ftypavi[fs]/ },
];

const SIGNATURE_BYTES = 16;
const SVG_SAMPLE_BYTES = 4_096;

/**
 * Matches the start of an SVG. XML may have a declaration, comments and a document type before the root element. A text
 * must match in only one way; otherwise a file full of comments would take exponential time.
 */
const SVG_START = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:(?:<!--(?:(?!-->)[\s\S])*-->|<!doctype svg[^>]*>)\s*)*<svg[\s/>]/i;

/** Returns the format of a file by its content, regardless of its name, or undefined if the format is not accepted. */
export function pictureKindOf(content: Buffer): PictureKind | undefined {
  const start = content.toString('latin1', 0, SIGNATURE_BYTES);
  const match = SIGNATURES.find(({ signature }) => signature.test(start));
  if (match !== undefined) return match.kind;
  const text = content.toString('utf8', 0, SVG_SAMPLE_BYTES).replace(/^\ufeff/, '');
  return SVG_START.test(text) ? 'svg' : undefined;
}

export interface UploadedPicture {
  /** At most `PICTURE_UPLOADS.maxBytes`. */
  bytes: Buffer;
  /** The media type that the sender declares. */
  declaredType: PictureMediaType;
  use: PictureUse;
}

/** Converts untrusted pictures and adds them to the site's own store. */
export interface PicturePipeline {
  /** Checks that the disk has free space for pictures. @throws CoreError `overloaded`. */
  requireDiskSpace(): Promise<void>;
  /**
   * Reserves one of a few slots for a picture before its bytes are received. Waiting pictures are processed round-robin
   * across senders, such as networks.
   * @param onLost called if the picture arrives too slowly and its slot is given to another picture.
   * @throws CoreError `overloaded` if no slot is free for this sender.
   */
  admit(sender: string, onLost?: () => void): PictureSlot;
}

export interface PictureSlot {
  /**
   * Checks a picture, scales it, removes its metadata and stores it as WebP. If `signal` aborts because the sender
   * disconnected, a waiting picture is not processed.
   * @returns its URL path on the site, such as `/images/{hash}.webp`.
   * @throws CoreError `picture_unusable` and `unsupported_media_type` with a message for the sender, `overloaded`.
   */
  process(picture: UploadedPicture, signal?: AbortSignal): Promise<string>;
  /** Frees the slot. A second call has no effect. */
  release(): void;
}
