import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { UnreadableFileError } from './import-errors.ts';
import { type FileSource, LINE_FEED, readBytes } from './read-bytes.ts';
import { isRecord, type SourceRecord } from './source-record.ts';

/** Reads a JSON array of objects, and yields each object as soon as it is complete. @throws UnreadableFileError. */
export async function* readJson(path: string, onBytes?: (count: number) => void): AsyncGenerator<SourceRecord> {
  const reader = new ArrayReader();
  for await (const bytes of readBytes(path, onBytes)) {
    try {
      reader.write(bytes);
    } finally {
      // Also yields the items before an error, which may have errors themselves.
      yield* reader.takeItems();
    }
  }
  reader.end();
}

/**
 * The maximum size of a row. A larger row may not fit into memory, and probably means that the file has another format.
 */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
const TOO_LONG = `longer than ${MAX_ROW_BYTES / 1024 / 1024} MiB, the maximum size of a row`;

/**
 * The maximum nesting of an item, including the file's array. Each level takes much more memory than its bracket in the
 * file.
 */
const MAX_DEPTH = 100;

const OPENING = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET]);
const CLOSING = new Set([TokenType.RIGHT_BRACE, TokenType.RIGHT_BRACKET]);

class ArrayReader {
  readonly #tokenizer = new Tokenizer();
  readonly #parser = new TokenParser({ paths: ['$.*'], keepStack: false });
  readonly #lines = new LineCounter();
  #complete: SourceRecord[] = [];
  #depth = 0;
  /** The line on which the current item began. */
  #line = 1;
  /** The number of the current item, starting at 1; 0 outside the array. */
  #item = 0;
  /** The number of bytes before the current chunk. */
  #bytes = 0;
  /** The number of bytes before the chunk in which the current item began. */
  #bytesBefore = 0;

  constructor() {
    // The tokenizer's own decoder would drop U+FEFF even within texts.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    Object.assign(Reflect.get(this.#tokenizer, 'bufferedString'), { decoder });
    this.#tokenizer.onToken = (token) => this.#take(token);
    this.#parser.onValue = ({ value }) => {
      const position = { line: this.#line, item: this.#item };
      this.#complete.push(
        isRecord(value) ? { ...position, values: value } : { ...position, error: 'This row is not a JSON object' },
      );
    };
  }

  write(bytes: Buffer): void {
    this.#lines.add(bytes);
    this.#guard(() => this.#tokenizer.write(bytes));
    this.#bytes += bytes.length;
    if (this.#bytes - this.#bytesBefore > MAX_ROW_BYTES) throw this.#unreadable(this.#line, `The item is ${TOO_LONG}`);
  }

  /** Returns the items that were completed since the last call. */
  takeItems(): SourceRecord[] {
    const items = this.#complete;
    this.#complete = [];
    return items;
  }

  end(): void {
    if (this.#parser.isEnded) return;
    throw this.#unreadable(this.#lines.lastLine, 'The file ends before its JSON array is complete');
  }

  #take(token: Parameters<Tokenizer['onToken']>[0]): void {
    if (this.#depth === 0 && token.token !== TokenType.LEFT_BRACKET) {
      throw new UnreadableFileError(this.#lines.lineAt(token.offset), 'The file must be one JSON array of objects');
    }
    if (this.#depth === 0) this.#item = 1;
    if (this.#depth === 1) {
      this.#line = this.#lines.lineAt(token.offset);
      this.#bytesBefore = this.#bytes;
      if (token.token === TokenType.COMMA) this.#item += 1;
      if (token.token === TokenType.RIGHT_BRACKET) this.#item = 0;
    }
    if (OPENING.has(token.token)) this.#depth += 1;
    if (this.#depth > MAX_DEPTH)
      throw this.#unreadable(this.#lines.lineAt(token.offset), `The item is nested more than ${MAX_DEPTH} levels deep`);
    if (CLOSING.has(token.token)) this.#depth -= 1;
    this.#parser.write(token);
  }

  /** Replaces the offset and the state in the parser's errors by the line. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof UnreadableFileError) throw error;
      const message = error instanceof Error ? error.message : String(error);
      const offset = /position "?(\d+)/.exec(message)?.[1];
      const line = offset === undefined ? this.#line : this.#lines.lineAt(Number(offset));
      throw this.#unreadable(line, `This is not JSON: ${message.replace(/ (?:at chunk position|in state) .*/s, '')}`);
    }
  }

  #unreadable(line: number, reason: string): UnreadableFileError {
    return this.#item === 0 ? new UnreadableFileError(line, reason) : new UnreadableFileError(line, reason, this.#item);
  }
}

/** Maps byte offsets to line numbers. Offsets must be requested in ascending order. */
class LineCounter {
  #bytes = 0;
  /** The number of line feeds that are no longer in `#lineFeeds`. */
  #linesBefore = 0;
  /** Offsets of the line feeds in the current chunk, and of earlier ones that no requested offset has passed. */
  #lineFeeds: number[] = [];
  /** The number of `#lineFeeds` before the last requested offset. */
  #passed = 0;

  add(bytes: Buffer): void {
    this.#lineFeeds.splice(0, this.#passed);
    this.#linesBefore += this.#passed;
    this.#passed = 0;
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1))
      this.#lineFeeds.push(this.#bytes + at);
    this.#bytes += bytes.length;
  }

  lineAt(offset: number): number {
    while ((this.#lineFeeds[this.#passed] ?? offset) < offset) this.#passed += 1;
    return this.#linesBefore + this.#passed + 1;
  }

  get lastLine(): number {
    return this.#linesBefore + this.#lineFeeds.length + 1;
  }
}

/** Reads JSON Lines, with one object per line. Blank lines are skipped. @throws UnreadableFileError. */
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
    if (length > MAX_ROW_BYTES) throw new UnreadableFileError(line, `The line is ${TOO_LONG}`);
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
    return isRecord(value) ? { line, values: value } : { line, error: 'This row is not a JSON object' };
  } catch (error) {
    return { line, error: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}
