import { isRecord, type SourceRecord, UnreadableFileError } from './import-faults.ts';
import { type FileSource, readBytes } from './read-bytes.ts';

const LINE_FEED = 0x0a;

/** Longer than any valid row: probably a file of another kind. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Reads JSON Lines: one object per line; blank lines are counted and skipped. @throws UnreadableFileError. */
export async function* readJsonLines(path: string, onBytes?: (count: number) => void): AsyncGenerator<SourceRecord> {
  let line = 0;
  for await (const text of readLines(path, onBytes)) {
    line += 1;
    if (text.trim() !== '') yield recordOf(text, line);
  }
}

/**
 * Reads the lines of a UTF-8 file, without line endings.
 * @throws UnreadableFileError if the file is not UTF-8, or a line is too long.
 */
export async function* readLines(source: FileSource, onBytes?: (count: number) => void): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let length = 0;
  let line = 1;
  for await (const bytes of readBytes(source, onBytes)) {
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield textOf([...parts, bytes.subarray(start, end)]);
      line += 1;
      parts = [];
      length = 0;
      start = end + 1;
    }
    const rest = bytes.subarray(start);
    parts.push(rest);
    length += rest.length;
    if (length > MAX_LINE_BYTES) throw new UnreadableFileError(line, 'The line is too long to be a row');
  }
  if (length > 0) yield textOf(parts);
}

function textOf(parts: readonly Buffer[]): string {
  const text = (parts.length === 1 ? parts[0] : Buffer.concat(parts))?.toString('utf8') ?? '';
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

function recordOf(text: string, line: number): SourceRecord {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { line, values: value } : { line, fault: 'This is not an object' };
  } catch (error) {
    return { line, fault: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}
