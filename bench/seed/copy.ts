import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

export type Cell = string | number | null | readonly string[];

const CHUNK_CHARACTERS = 64 * 1024;

/** Streams rows into a table with COPY (text format). */
export async function copyRows(
  client: pg.Client,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly Cell[]>,
): Promise<void> {
  const target = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(chunksOf(rows)), target);
}

function* chunksOf(rows: Iterable<readonly Cell[]>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    text += `${row.map(encode).join('\t')}\n`;
    if (text.length < CHUNK_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function encode(cell: Cell): string {
  if (cell === null) return '\\N';
  const text = Array.isArray(cell) ? arrayLiteral(cell) : String(cell);
  return text.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

function arrayLiteral(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
