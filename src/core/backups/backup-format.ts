/**
 * A backup is lines of text in UTF-8, compressed by gzip. A line that begins with `#` is a mark of the backup in JSON, every
 * other is a row of the table that the last mark began. First comes the header, then each table (a mark, its rows, a mark
 * with their checksum), last the end: a file without it is not whole. `zgrep '^#'` shows what a backup holds.
 */

/** Raised when readers of today could not understand a file of tomorrow. */
export const BACKUP_VERSION = 1;

export interface BackedUpTable {
  name: string;
  columns: string[];
  rows: number;
}

/** What a backup says about itself. */
export interface BackupHeader {
  backup: 'groundswell';
  version: number;
  /** When its snapshot was taken, by the clock of the database, in ISO 8601. */
  createdAt: string;
  /** The versions that made it. */
  groundswell: string;
  postgresql: string;
  /** Those that made its schema, by their files' names. */
  migrations: string[];
  tables: BackedUpTable[];
}

export type BackupMark =
  | BackupHeader
  | { begin: string }
  | { done: string; sha256: string }
  | { end: true; sha256: string };

export const MARK = '#';

/** The line of a mark, with its line feed. */
export function markLine(mark: BackupMark): Buffer {
  return Buffer.from(`${MARK}${JSON.stringify(mark)}\n`);
}

/** A file that cannot be restored from; the message says why, in one line for the operator. */
export class BackupFileError extends Error {
  override readonly name = 'BackupFileError';
}
