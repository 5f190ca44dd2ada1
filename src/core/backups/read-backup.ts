import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { systemCode } from '../file-system.ts';
import {
  BACKUP_VERSION,
  BackupFileError,
  type BackupHeader,
  type BackupMarker,
  cannotRestore,
  MARKER,
} from './backup-file.ts';

type BackupPiece =
  | { kind: 'header'; header: BackupHeader }
  /** Rows as JSON, without line feeds. */
  | { kind: 'rows'; table: string; lines: string[] }
  /** The table is complete, and its rows match the checksum. */
  | { kind: 'table'; table: string; sha256: string };

const LINE_FEED = 0x0a;
const MARKER_BYTE = MARKER.charCodeAt(0);

/** The size of the chunks of decompressed text. */
const PIECE_BYTES = 512 * 1024;

/**
 * The maximum length of a line. A file with a longer line is not a backup, because a `jsonb` value has at most 256 MiB.
 * Node.js supports strings of this length.
 */
const MAX_LINE_BYTES = 384 * 1024 * 1024;

/**
 * Reads a backup and verifies its format, version and checksums while reading. Do not trust the content until the end
 * has been read.
 * @throws BackupFileError if the file is missing, damaged, truncated or too new.
 */
export async function* readBackup(path: string): AsyncGenerator<BackupPiece> {
  const check = new BackupCheck(path);
  try {
    /** The parts of the last, incomplete line. They are joined only once, because a line may have hundreds of parts. */
    let rest: Buffer[] = [];
    let restBytes = 0;
    for await (const chunk of decompress(path)) {
      const end = chunk.lastIndexOf(LINE_FEED) + 1;
      if (end > 0) {
        yield* check.take(Buffer.concat([...rest, chunk.subarray(0, end)]));
        [rest, restBytes] = [[], 0];
      }
      rest.push(chunk.subarray(end));
      restBytes += chunk.length - end;
      if (restBytes > MAX_LINE_BYTES) throw cannotRestore(path, 'it is not a backup');
    }
    check.finish(restBytes);
  } catch (error) {
    throw asBackupFileError(error, path);
  }
}

/** Verifies a backup by reading all of it. @throws BackupFileError if it is invalid. */
export async function verifyBackup(
  path: string,
  onProgress?: (rows: number, allRows: number) => void,
): Promise<BackupHeader> {
  let header: BackupHeader | undefined;
  let [seen, allRows] = [0, 0];
  for await (const piece of readBackup(path)) {
    if (piece.kind === 'header') {
      header = piece.header;
      allRows = rowsOf(header);
    } else if (piece.kind === 'rows') {
      seen += piece.lines.length;
      onProgress?.(seen, allRows);
    }
  }
  if (!header) throw cannotRestore(path, 'it is empty');
  return header;
}

/** Returns the total number of rows and pictures in a backup. */
export function rowsOf({ tables }: BackupHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function decompress(path: string): AsyncIterable<Buffer> {
  // The callback ignores errors, because the reader of the returned stream receives them.
  return pipeline(createReadStream(path), createGunzip({ chunkSize: PIECE_BYTES }), () => undefined) as Readable;
}

/** Validates the order of markers, and the number and the checksum of each table's rows. */
class BackupCheck {
  readonly #path: string;
  #header: BackupHeader | undefined;
  #headerHash = '';
  #open: { name: string; rows: number; expected: number; hash: Hash } | undefined;
  #tablesDone = 0;
  #isOver = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Validates the next part of the text, which must consist of complete lines. */
  *take(text: Buffer): Generator<BackupPiece> {
    for (let start = 0; start < text.length; ) {
      if (text[start] === MARKER_BYTE || !this.#open) {
        const end = text.indexOf(LINE_FEED, start) + 1;
        yield* this.#takeMarker(text.subarray(start, end));
        start = end;
      } else {
        const end = endOfRows(text, start);
        const rows = text.subarray(start, end);
        this.#open.hash.update(rows);
        const lines = rows.toString().split('\n');
        lines.pop();
        this.#open.rows += lines.length;
        yield { kind: 'rows', table: this.#open.name, lines };
        start = end;
      }
    }
  }

  /** Checks that the end marker was the last line. @throws BackupFileError if it was not. */
  finish(restBytes: number): void {
    if (!this.#header) throw cannotRestore(this.#path, 'it is not a backup');
    if (!this.#isOver || restBytes > 0) throw cannotRestore(this.#path, 'it does not end with an end marker');
  }

  *#takeMarker(line: Buffer): Generator<BackupPiece> {
    const marker = this.#parse(line);
    if (this.#isOver) throw cannotRestore(this.#path, 'it continues after its end');
    if ('backup' in marker) yield this.#takeHeader(marker, line);
    else if (!this.#header) throw cannotRestore(this.#path, 'it is not a backup');
    else if ('begin' in marker) this.#begin(marker.begin, this.#header);
    else if ('done' in marker) yield this.#endTable(marker.done, marker.sha256);
    else this.#end(marker.sha256, this.#header);
  }

  #parse(line: Buffer): BackupMarker {
    try {
      if (line[0] !== MARKER_BYTE) throw new Error('a row outside of a table');
      const marker: unknown = JSON.parse(line.subarray(1).toString());
      if (typeof marker === 'object' && marker !== null) return marker as BackupMarker;
      throw new Error('no marker');
    } catch {
      throw cannotRestore(this.#path, this.#header ? 'one of its lines is invalid' : 'it is not a backup');
    }
  }

  #takeHeader(header: BackupHeader, line: Buffer): BackupPiece {
    if (this.#header || header.backup !== 'groundswell') throw cannotRestore(this.#path, 'it is not a backup');
    if (header.version > BACKUP_VERSION) {
      throw new BackupFileError(
        `${this.#path} was made by a newer Groundswell, in a format that this version cannot read: upgrade first. Nothing was changed.`,
      );
    }
    if (!isHeader(header)) throw cannotRestore(this.#path, 'its header is invalid');
    this.#header = header;
    this.#headerHash = createHash('sha256').update(line).digest('hex');
    return { kind: 'header', header };
  }

  #begin(name: string, { tables }: BackupHeader): void {
    const expected = tables[this.#tablesDone];
    if (this.#open || expected?.name !== name)
      throw cannotRestore(this.#path, `its section for the table ${name} is out of order`);
    this.#open = { name, rows: 0, expected: expected.rows, hash: createHash('sha256') };
  }

  #endTable(name: string, sha256: string): BackupPiece {
    const table = this.#open;
    if (table?.name !== name) throw cannotRestore(this.#path, `its section for the table ${name} is out of order`);
    if (table.rows !== table.expected || table.hash.digest('hex') !== sha256)
      throw cannotRestore(this.#path, `the rows of ${name} do not match their number or checksum`);
    this.#open = undefined;
    this.#tablesDone += 1;
    return { kind: 'table', table: name, sha256 };
  }

  #end(sha256: string, { tables }: BackupHeader): void {
    if (this.#open || this.#tablesDone !== tables.length || sha256 !== this.#headerHash)
      throw cannotRestore(
        this.#path,
        'it is incomplete or damaged: its tables or its checksum do not match its header',
      );
    this.#isOver = true;
  }
}

function isHeader({ createdAt, migrations, tables }: Partial<BackupHeader>): boolean {
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === 'string');
  return (
    typeof createdAt === 'string' &&
    !Number.isNaN(Date.parse(createdAt)) &&
    areTexts(migrations) &&
    Array.isArray(tables) &&
    tables.every((table) => typeof table?.name === 'string' && areTexts(table.columns) && Number.isInteger(table.rows))
  );
}

/** Returns the end position of the rows that begin at `start`: the next marker, or the end of the text. */
function endOfRows(text: Buffer, start: number): number {
  const marker = text.indexOf(`\n${MARKER}`, start);
  return marker === -1 ? text.length : marker + 1;
}

/** Translates errors of decompression and of the file system into messages for the operator. */
function asBackupFileError(error: unknown, path: string): unknown {
  switch (systemCode(error)) {
    case 'ENOENT':
      return cannotRestore(path, 'there is no such file');
    case 'EISDIR':
      return cannotRestore(path, 'it is a folder');
    case 'EACCES':
      return cannotRestore(path, 'this user may not read it');
    case 'Z_BUF_ERROR':
      return cannotRestore(path, 'it is truncated');
    case 'Z_DATA_ERROR':
      return cannotRestore(path, 'it is damaged, or not a backup');
    default:
      return error;
  }
}
