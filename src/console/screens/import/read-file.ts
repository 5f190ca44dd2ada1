import { IMPORT_TOO_LARGE, MAX_IMPORT_BYTES } from '../../../contract/console/records.ts';
import { isVisible } from '../../../contract/text.ts';

/** The chosen file with its first rows. */
export interface ChosenFile {
  file: File;
  kind: 'csv' | 'json' | 'json-lines';
  columns: string[];
  /** The first rows, each as strings by column. */
  rows: { line: number; item?: number; values: Record<string, string> }[];
}

/** Maximum number of first rows to read. Rows with errors are read separately, wherever they are in the file. */
const MAX_ROWS = 50;
/** Number of bytes that are read for the first rows of a CSV or JSON Lines file. */
const SAMPLE_BYTES = 512 * 1024;
/** Number of characters at the start of a CSV file that are searched for its header. */
const HEADER_CHARACTERS = 64 * 1024;
/** Maximum size of files that are searched for rows. Searching larger files would block the page. */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;

/** The rows to read, by line number or, in a JSON array, by item number. If undefined, the first rows are read. */
type Wanted = ReadonlySet<number> | undefined;

const isWanted = (wanted: Wanted, at: number) => wanted === undefined || wanted.has(at);

/** Reads the rows at these positions. Returns an empty array if the file is too large to search. */
export async function readRowsAt(
  { file, kind }: ChosenFile,
  positions: readonly { line: number; item?: number | undefined }[],
): Promise<ChosenFile['rows']> {
  if (file.size > MAX_SEARCHED_BYTES) return [];
  const wanted = new Set(positions.map(({ line, item }) => item ?? line));
  const text = await file.text();
  if (kind === 'csv') return readCsvSample(text, wanted).rows;
  if (kind === 'json') return readItems(parseArray(text), wanted);
  return readLines(text.split('\n'), wanted).rows;
}

/**
 * Reads the columns and the first rows of a file.
 * @throws Error if the file is too large, the format is unknown, or a `.json` file contains no JSON array.
 */
export async function readFile(file: File): Promise<ChosenFile> {
  // Checked here, because the browser would upload the whole file before it reads the server's error.
  if (file.size > MAX_IMPORT_BYTES) throw new Error(IMPORT_TOO_LARGE);
  const ending = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase();
  if (ending === 'csv') return { file, kind: 'csv', ...readCsvSample(await file.slice(0, SAMPLE_BYTES).text()) };
  if (ending === 'json') {
    const items = parseArray(await file.text());
    return { file, kind: 'json', columns: columnsOf(items), rows: readItems(items) };
  }
  if (ending === 'jsonl' || ending === 'ndjson') {
    const lines = (await file.slice(0, SAMPLE_BYTES).text()).split('\n').slice(0, MAX_ROWS);
    return { file, kind: 'json-lines', ...readLines(lines) };
  }
  throw new Error('The name of the file must end in .csv, .json, .jsonl or .ndjson.');
}

type Sample = Pick<ChosenFile, 'columns' | 'rows'>;

/** Reads rows of CSV text (RFC 4180), with the separators that the import accepts. */
export function readCsvSample(text: string, wanted?: Wanted): Sample {
  // Like the server, detects the separators outside quotes and ignores leading blank lines.
  const unquoted = text
    .trimStart()
    .slice(0, HEADER_CHARACTERS)
    .replaceAll(/"[^"]*"/g, '');
  const [header = ''] = unquoted.split(/[\r\n]/, 1);
  const lineBreak = /^\r(?!\n)/.test(unquoted.slice(header.length)) ? '\r' : '\n';
  const delimiter = [',', ';', '\t'].sort((a, b) => header.split(b).length - header.split(a).length)[0] ?? ',';
  const maxRows = wanted?.size ?? MAX_ROWS;
  const records: { line: number; cells: string[] }[] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let line = 1;
  let startedAt = 1;
  const endCell = () => {
    cells.push(cell);
    cell = '';
  };
  const endRecord = () => {
    const isHeader = records.length === 0;
    if (cells.some(isVisible) && (isHeader || isWanted(wanted, startedAt))) records.push({ line: startedAt, cells });
    cells = [];
  };
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length && records.length <= maxRows; at += 1) {
    const character = text.charAt(at);
    if (character === '\n' || character === lineBreak) line += 1;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === delimiter) endCell();
    else if (character === lineBreak) {
      endCell();
      endRecord();
      startedAt = line;
    } else if (character !== '\r') cell += character;
  }
  if (cell !== '' || cells.length > 0) {
    endCell();
    endRecord();
  }
  const [first, ...rest] = records;
  const columns = (first?.cells ?? []).map((name) => name.trim());
  return {
    columns,
    rows: rest.slice(0, maxRows).map(({ line: at, cells: values }) => ({
      line: at,
      values: Object.fromEntries(columns.map((column, index) => [column, values[index] ?? ''])),
    })),
  };
}

function parseArray(text: string): unknown[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value)) throw new Error('The file must contain an array of objects.');
  return value;
}

function readItems(items: readonly unknown[], wanted?: Wanted): Sample['rows'] {
  const numbered = items.map((value, index) => ({ line: 1, item: index + 1, value }));
  return rowsOf(numbered.filter(({ item }) => isWanted(wanted, item)).slice(0, wanted?.size ?? MAX_ROWS));
}

function readLines(lines: readonly string[], wanted?: Wanted): Sample {
  const items = lines.flatMap((text, index) => {
    try {
      return text.trim() === '' || !isWanted(wanted, index + 1)
        ? []
        : [{ line: index + 1, value: JSON.parse(text) as unknown }];
    } catch {
      // The dry run reports the error in this line.
      return [];
    }
  });
  return { columns: columnsOf(items.map(({ value }) => value)), rows: rowsOf(items) };
}

function columnsOf(items: readonly unknown[]): string[] {
  const columns = new Set<string>();
  for (const item of items.filter(isObject)) for (const column of Object.keys(item)) columns.add(column);
  return [...columns];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function rowsOf(items: readonly { line: number; item?: number; value: unknown }[]): Sample['rows'] {
  return items.flatMap(({ value, ...place }) =>
    isObject(value)
      ? [{ ...place, values: Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cellText(each)])) }]
      : [],
  );
}

function cellText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
