import { isRecord } from '../imports/source-record.ts';

/** What an export holds, in the order in which it can be taken in: what the site shows, and nothing of how it runs. */
export const EXPORT_TABLES = ['products', 'upvotes', 'comments'] as const;

export type ExportTable = (typeof EXPORT_TABLES)[number];

/** Raised when the form of the file changes; columns come and go without that. */
export const EXPORT_VERSION = 1;

/** The first line: `{"groundswell":{…}}`. */
export interface ExportHeader {
  format: 'export';
  version: number;
  /** The columns of each table. */
  tables: { name: ExportTable; columns: string[] }[];
}

/** The last line: `{"end":{…}}`. Without it, the file was cut off. */
export interface ExportEnd {
  /** Rows of each table, and the SHA-256 of their lines with their line feeds. */
  tables: Record<string, { rows: number; sha256: string }>;
  /** The SHA-256 of everything before this line. */
  sha256: string;
}

/** A file that is no export that can be taken in: not whole, not what was written, or not understood. */
export class ExportFileError extends Error {
  override readonly name = 'ExportFileError';
}

/** Every line is an object whose one key says what it is: `groundswell`, a table, or `end`. */
export function lineOf(key: string, json: string): string {
  return `{${JSON.stringify(key)}:${json}}\n`;
}

const HEADER_START = '{"groundswell":';

export function isHeaderLine(line: string): boolean {
  return line.startsWith(HEADER_START);
}

/** @throws ExportFileError. */
export function readHeader(line: string): ExportHeader {
  const header = parse(line, 'groundswell');
  if (header.format !== 'export') throw new ExportFileError('The first line is not that of an export');
  if (header.version !== EXPORT_VERSION) {
    throw new ExportFileError(`The export has version ${header.version}, and this program reads ${EXPORT_VERSION}`);
  }
  if (!Array.isArray(header.tables)) throw new ExportFileError('The first line does not say which tables there are');
  return { format: 'export', version: EXPORT_VERSION, tables: header.tables.map(readTable) };
}

function readTable(value: unknown): ExportHeader['tables'][number] {
  const { name, columns } = isRecord(value) ? value : {};
  const known = EXPORT_TABLES.find((each) => each === name);
  if (known === undefined) throw new ExportFileError(`The export holds a table that is not known: ${name}`);
  const isList = Array.isArray(columns) && columns.length > 0 && columns.every((column) => typeof column === 'string');
  if (!isList) throw new ExportFileError(`The first line does not name the columns of ${name}`);
  return { name: known, columns };
}

/** @throws ExportFileError. */
export function readEnd(line: string): ExportEnd {
  const { tables, sha256 } = parse(line, 'end');
  if (!isRecord(tables) || typeof sha256 !== 'string') throw new ExportFileError('The last line is damaged');
  const read = Object.entries(tables).map(([name, value]) => {
    const { rows, sha256: sum } = isRecord(value) ? value : {};
    if (typeof rows !== 'number' || typeof sum !== 'string') throw new ExportFileError('The last line is damaged');
    return [name, { rows, sha256: sum }] as const;
  });
  return { tables: Object.fromEntries(read), sha256 };
}

function parse(line: string, key: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    const inner = isRecord(value) ? value[key] : undefined;
    if (isRecord(inner)) return inner;
  } catch {
    // Said below: what is no JSON is no line of an export.
  }
  throw new ExportFileError(`The line of '${key}' is damaged`);
}
