import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Sql } from '../database/database.ts';
import { leaseTag } from '../leases/lease.ts';
import { isIntact, PICTURE_NAME, readPicture, storePicture } from '../pictures/picture-store.ts';

/**
 * A backup is UTF-8 text compressed with gzip. A line that begins with `#` is a JSON marker; every other line is a row
 * of the table that the last marker began. The header comes first. Each table follows as a marker, its rows, and a
 * marker with the checksum of the rows. The end marker comes last; a file without it is incomplete. `zgrep '^#'` shows
 * the structure of a backup.
 */

/** The version of the format. It is incremented when older programs cannot read the new format. */
export const BACKUP_VERSION = 1;

export interface BackedUpTable {
  name: string;
  columns: string[];
  rows: number;
}

export interface BackupHeader {
  backup: 'groundswell';
  version: number;
  /** The time of the snapshot according to the database's clock (ISO 8601). */
  createdAt: string;
  /** The versions of Groundswell and PostgreSQL that wrote the backup. */
  groundswell: string;
  postgresql: string;
  /** The file names of the migrations that had been applied to the database. */
  migrations: string[];
  tables: BackedUpTable[];
}

export type BackupMarker =
  | BackupHeader
  | { begin: string }
  | { done: string; sha256: string }
  | { end: true; sha256: string };

export const MARKER = '#';

/** Formats a marker as one line, with its line feed. */
export function markerLine(marker: BackupMarker): Buffer {
  return Buffer.from(`${MARKER}${JSON.stringify(marker)}\n`);
}

/** Thrown if a file cannot be restored. The message tells the operator why, in one line. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError';
}

/** Creates the error for a file that cannot be restored. @param why completes the sentence, without a period. */
export function cannotRestore(path: string, why: string): BackupFileError {
  return new BackupFileError(`Cannot restore from ${path}: ${why}. Nothing was changed.`);
}

/** The name of the section after the tables. Each of its lines is a picture, named by the hash of its content. */
export const PICTURES = 'pictures';

/** Called with the name of each picture that is omitted because its content does not match the hash in its name. */
export type OnDamagedPicture = (name: string) => void;

/**
 * Formats a picture as one line, without a line feed. The content is null if the picture has been deleted since it was
 * listed, is a link, or is damaged.
 */
export async function pictureLine(folder: string, name: string, onDamaged?: OnDamagedPicture): Promise<string> {
  let content = await readPicture(folder, name);
  if (content && !isIntact(name, content)) {
    onDamaged?.(name);
    content = undefined;
  }
  return JSON.stringify({ name, content: content?.toString('base64') ?? null });
}

/**
 * Stores a picture from a backup. Skips a picture without content, and a damaged one (its content does not match the
 * hash in its name).
 * @throws BackupFileError if the line is invalid.
 */
export async function restorePicture(
  folder: string,
  line: string,
  { path, onDamaged }: { path: string; onDamaged?: OnDamagedPicture | undefined },
): Promise<void> {
  const invalid = () => cannotRestore(path, 'a line in the section of pictures is invalid');
  let picture: { name?: unknown; content?: unknown } | null;
  try {
    picture = JSON.parse(line);
  } catch {
    throw invalid();
  }
  const { name, content: text } = picture ?? {};
  if (text === null) return;
  if (typeof name !== 'string' || typeof text !== 'string' || !PICTURE_NAME.test(name)) throw invalid();
  const content = Buffer.from(text, 'base64');
  if (isIntact(name, content)) await storePicture(folder, name, content);
  else onDamaged?.(name);
}

/**
 * These patterns match the names of scheduled backups, such as `groundswell-3f9a1c2e-20261120T221834Z.backup`, and of
 * their incomplete files. Files with other names are never deleted.
 */
const SCHEDULED = /^groundswell-([0-9a-f]{8})-(\d{8}T\d{6}Z)\.backup$/;
const SCHEDULED_PARTIAL = /^groundswell-([0-9a-f]{8})-\d{8}T\d{6}Z\.backup\.[0-9a-f-]+\.partial$/;

/**
 * Returns the file name of a scheduled backup: a tag of its database, then its time in UTC. Names with the same tag
 * sort by time.
 */
export function scheduledName(tag: string, time: Date): string {
  return `groundswell-${tag}-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.backup`;
}

/** Returns the time in the name of a scheduled backup. A copy of the file may have a later modification time. */
export function scheduledTime(path: string): Date {
  const time = SCHEDULED.exec(basename(path))?.[2] ?? '';
  return new Date(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:'));
}

/**
 * Deletes the oldest scheduled backups of one database until `maxBackups` are left. `last` is the name of the backup
 * that was just written. Backups with later times were written while the clock was wrong, and are deleted first.
 * @returns the deleted names.
 */
export async function pruneBackups(folder: string, last: string, maxBackups: number): Promise<string[]> {
  const tag = SCHEDULED.exec(last)?.[1];
  const names = (await readdir(folder)).filter((name) => SCHEDULED.exec(name)?.[1] === tag).sort();
  const [later, others] = [names.filter((name) => name > last), names.filter((name) => name <= last)];
  const old = [...later, ...others].slice(0, Math.max(0, names.length - maxBackups));
  for (const name of old) await rm(join(folder, name), { force: true });
  return old;
}

/**
 * Deletes the incomplete files of scheduled backups whose process was killed. Call it only while holding the lease for
 * backups, so no other process is writing a backup.
 */
export async function removePartialBackups(folder: string, tag: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (SCHEDULED_PARTIAL.exec(name)?.[1] === tag) await rm(join(folder, name), { force: true });
  }
}

/**
 * Returns the path of the newest scheduled backup in a folder, or undefined if there is none. With `ofTag`, ignores the
 * backups of other databases.
 */
export async function newestBackup(folder: string, ofTag?: string): Promise<string | undefined> {
  const times = (await readdir(folder)).flatMap((name) => {
    const [, tag, time] = SCHEDULED.exec(name) ?? [];
    return time === undefined || (ofTag !== undefined && tag !== ofTag) ? [] : [{ name, time }];
  });
  const newest = times.sort((a, b) => (a.time < b.time ? -1 : 1)).at(-1);
  return newest && join(folder, newest.name);
}

/** Returns the path of the newest scheduled backup of this database, or undefined if there is none. */
export async function newestBackupOf(sql: Sql, folder: string): Promise<string | undefined> {
  const tag = await leaseTag(sql, 'scheduled backup');
  return tag === undefined ? undefined : newestBackup(folder, tag);
}
