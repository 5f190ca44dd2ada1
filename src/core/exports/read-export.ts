import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { UnreadableFileError } from '../imports/import-faults.ts';
import { readLines } from '../imports/read-json-lines.ts';
import {
  type ExportEnd,
  ExportFileError,
  type ExportHeader,
  isHeaderLine,
  readEnd,
  readHeader,
} from './export-format.ts';

const BATCH_ROWS = 500;

export type ExportPiece =
  | { kind: 'header'; header: ExportHeader }
  | { kind: 'rows'; table: string; lines: readonly string[] };

/** Whether a file says in its beginning that it is an export, whatever it is called. */
export async function isExport(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
    return isHeaderLine(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Reads a whole export and checks that it is one. @returns how many rows it holds. @throws ExportFileError. */
export async function verifyExport(path: string, onRows: (count: number) => void = () => {}): Promise<number> {
  let rows = 0;
  for await (const piece of readExport(path)) {
    if (piece.kind === 'rows') rows += piece.lines.length;
    onRows(rows);
  }
  return rows;
}

/**
 * Reads an export: its header, then rows as `readRows` gave them, table after table.
 * @throws ExportFileError, at the end for what shows only there: until then, nothing that was given may be relied on.
 */
export async function* readExport(path: string): AsyncGenerator<ExportPiece> {
  try {
    yield* piecesOf(path);
  } catch (error) {
    const isBroken = error instanceof ExportFileError || error instanceof UnreadableFileError;
    throw isBroken ? new ExportFileError(`${path}: ${error.message}. Nothing was imported.`, { cause: error }) : error;
  }
}

async function* piecesOf(path: string): AsyncGenerator<ExportPiece> {
  const whole = createHash('sha256');
  const sums = new Map<string, { hash: Hash; rows: number }>();
  let table: string | undefined;
  let batch: string[] = [];
  let end: ExportEnd | undefined;
  for await (const line of readLines(path)) {
    if (end !== undefined) throw new ExportFileError('Something follows the last line');
    if (line.startsWith('{"end":')) {
      end = readEnd(line);
      continue;
    }
    whole.update(`${line}\n`);
    if (sums.size === 0) {
      const header = readHeader(line);
      for (const { name } of header.tables) sums.set(name, { hash: createHash('sha256'), rows: 0 });
      yield { kind: 'header', header };
      continue;
    }
    const name = /^\{"([a-z_]+)":/.exec(line)?.[1] ?? '';
    const sum = sums.get(name);
    if (sum === undefined || !line.endsWith('}')) throw new ExportFileError('A line is not the row of a table');
    sum.hash.update(`${line}\n`);
    sum.rows += 1;
    if (table !== undefined && (table !== name || batch.length === BATCH_ROWS)) {
      yield { kind: 'rows', table, lines: batch };
      batch = [];
    }
    table = name;
    batch.push(line.slice(name.length + 4, -1));
  }
  if (table !== undefined) yield { kind: 'rows', table, lines: batch };
  if (end === undefined) throw new ExportFileError('The file was cut off: its last line is missing');
  mustMatch(end, whole, sums);
}

function mustMatch(end: ExportEnd, whole: Hash, sums: ReadonlyMap<string, { hash: Hash; rows: number }>): void {
  for (const [name, { hash, rows }] of sums) {
    const said = end.tables[name];
    if (said?.rows !== rows) throw new ExportFileError(`There are ${rows} rows of ${name}, not ${said?.rows}`);
    if (said.sha256 !== hash.digest('hex'))
      throw new ExportFileError(`The rows of ${name} are not those that were written`);
  }
  if (end.sha256 !== whole.digest('hex')) throw new ExportFileError('The file is not what was written');
}
