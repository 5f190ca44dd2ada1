import { promisify } from 'node:util';
import { CsvError, type Info, parse } from 'csv-parse';
import { formatQuantity, isVisible } from '../../contract/text.ts';
import { UnreadableFileError } from './import-errors.ts';
import { readBytes } from './read-bytes.ts';
import type { SourceRecord } from './source-record.ts';

/** The maximum length of a row. A longer row probably has an unclosed quote. */
const MAX_RECORD_CHARACTERS = 4 * 1024 * 1024;

const HEADER_SAMPLE_BYTES = 64 * 1024;
/** The codes of parser errors that a missing closing quote can cause. */
const UNCLOSED: ReadonlySet<string> = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE']);

const DELIMITERS = [',', ';', '\t'];

/**
 * Reads CSV (RFC 4180) with a header and any line endings. The header determines whether the delimiter is a comma, a
 * semicolon or a tab. Blank rows are skipped.
 * @param onHeader receives the names of the columns. @throws UnreadableFileError.
 */
export async function* readCsv(
  path: string,
  onHeader: (columns: readonly string[]) => void,
  onBytes?: (count: number) => void,
): AsyncGenerator<SourceRecord> {
  let columns: string[] | undefined;
  let lineBreaksCountedTwice = 0;
  let lastLine = 0;
  try {
    for await (const { record, info } of parseRows(path, onBytes)) {
      const line = lastLine + 1;
      // The parser counts a CRLF inside quotes as two lines.
      for (const cell of record) if (cell.includes('\r\n')) lineBreaksCountedTwice += cell.split('\r\n').length - 1;
      lastLine = info.lines - lineBreaksCountedTwice;
      // Spreadsheets export an empty row as a line of delimiters.
      if (!record.some(isVisible)) continue;
      if (columns === undefined) {
        columns = headerOf(record, line);
        onHeader(columns);
      } else yield recordOf(columns, record, line);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Reports the first line of the row with the error. The parser's own position may be in a later row, because it
    // notices an unclosed quote only there or at the end of the file.
    throw new UnreadableFileError(lastLine + 1, reasonOf(error));
  }
  if (columns === undefined)
    throw new UnreadableFileError(1, 'The file is empty: its first line must name the columns');
}

interface ParsedRow {
  record: string[];
  info: Info;
}

/** Parses the rows of a file. @throws CsvError after the rows before the error; UnreadableFileError. */
async function* parseRows(path: string, onBytes?: (count: number) => void): AsyncGenerator<ParsedRow> {
  let rows: ParsedRow[] = [];
  const parser = parse({
    ...(await separatorsOf(path)),
    relax_column_count: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    // Collects the rows, because a stream that fails drops the rows that have not been read yet.
    on_record: (record, info) => void rows.push({ record, info }),
  });
  // The callbacks of `write` and `end` get the error.
  parser.on('error', () => {});
  async function* rowsOf(parsing: Promise<unknown>): AsyncGenerator<ParsedRow> {
    try {
      await parsing;
    } finally {
      const parsed = rows;
      rows = [];
      yield* parsed;
    }
  }
  const write = promisify((bytes: Buffer, done: (error?: Error | null) => void) => parser.write(bytes, done));
  for await (const bytes of readBytes(path, onBytes)) yield* rowsOf(write(bytes));
  yield* rowsOf(promisify((done: (error?: Error | null) => void) => parser.end(done))());
}

/** The maximum number of columns. With more, reading each row would take too long. */
const MAX_COLUMNS = 1_000;

function headerOf(record: readonly string[], line: number): string[] {
  const columns = record.map((name) => name.trim());
  if (columns.length > MAX_COLUMNS)
    throw new UnreadableFileError(line, `The header has ${columns.length} columns; at most ${MAX_COLUMNS} are allowed`);
  const duplicate = columns.find((name, index) => name !== '' && columns.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new UnreadableFileError(line, `The column '${duplicate}' occurs twice; rename or remove one of them`);
  return columns;
}

function recordOf(columns: readonly string[], record: readonly string[], line: number): SourceRecord {
  if (record.length !== columns.length) {
    return {
      line,
      error: `This row has ${formatQuantity(record.length, 'cell')}, but the header has ${columns.length}`,
    };
  }
  return { line, values: Object.fromEntries(columns.map((column, index) => [column, record[index]])) };
}

function reasonOf({ code, message }: CsvError): string {
  if (code === 'CSV_MAX_RECORD_SIZE') {
    return 'This row is too long; perhaps one of its quotes is not closed';
  }
  if (UNCLOSED.has(code)) return 'A quote in this row is not closed';
  if (code === 'CSV_INVALID_CLOSING_QUOTE')
    return 'Text follows a closing quote; a quote inside quotes must be doubled';
  if (code === 'INVALID_OPENING_QUOTE')
    return 'A quote is inside a cell that does not begin with one; enclose the cell in quotes, and double those inside it';
  return message;
}

/**
 * Returns the delimiter that occurs most often in the first line, outside quotes, and the line endings. A file may have
 * both LF and CRLF, for example if a line was added on another system.
 */
async function separatorsOf(path: string): Promise<{ delimiter: string; record_delimiter: string[] }> {
  let sample = '';
  for await (const bytes of readBytes(path)) {
    sample = bytes.subarray(0, HEADER_SAMPLE_BYTES).toString('utf8').trimStart();
    break;
  }
  const unquoted = sample.replaceAll(/"[^"]*"/g, '');
  const [header = ''] = unquoted.split(/[\r\n]/, 1);
  const isCarriageReturn = /^\r(?!\n)/.test(unquoted.slice(header.length));
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return {
    delimiter: DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',',
    record_delimiter: isCarriageReturn ? ['\r'] : ['\r\n', '\n'],
  };
}
