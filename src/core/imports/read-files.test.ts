import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isVisible } from '../../contract/text.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import type { SourceRecord } from './source-record.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-read-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Reader = (path: string) => AsyncGenerator<SourceRecord>;
const csv: Reader = (path) => readCsv(path, () => {});

async function read(reader: Reader, content: string | Buffer): Promise<SourceRecord[]> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const records: SourceRecord[] = [];
  for await (const record of reader(path)) records.push(record);
  return records;
}

describe('CSV', () => {
  test('quotes, line breaks in cells, blank lines, CRLF and a byte order mark are supported, and each row has its line number', async () => {
    expect(await read(csv, '\ufeffid,"na""me"\r\na,"one\r\ntwo"\r\n\r\nb,"x, y"\r\n"c\n\n",""\r\n')).toEqual([
      { line: 2, values: { id: 'a', 'na"me': 'one\r\ntwo' } },
      { line: 5, values: { id: 'b', 'na"me': 'x, y' } },
      { line: 6, values: { id: 'c\n\n', 'na"me': '' } },
    ]);
  });

  test.each([
    ['LF before CRLF', 'id,name\na,"A"\r\nb,B\n'],
    ['CRLF before LF', 'id,name\r\na,"A"\nb,B\r\n'],
    ['CR only', '\rid,"name"\ra,"A"\rb,B'],
  ])('a CSV file may have any line endings, even mixed ones: %s', async (_which, text) => {
    const values = (await read(csv, text)).map((record) => 'values' in record && record.values);
    expect(values).toEqual([
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B' },
    ]);
  });

  test('rows of blank cells are skipped, and the line numbers stay correct', async () => {
    expect(await read(csv, ',,\nid,name,tags\n,,\na,A,\n ,"\n", \n;\n,\u00a0,\nb,B\n')).toEqual([
      { line: 4, values: { id: 'a', name: 'A', tags: '' } },
      { line: 7, error: 'This row has 1 cell, but the header has 3' },
      { line: 9, error: 'This row has 2 cells, but the header has 3' },
    ]);
  });

  test.each([';', '\t'])('the delimiter of the header applies to all rows: %j', async (delimiter) => {
    const text = ['id', '"na,me"'].join(delimiter);
    expect(await read(csv, `${text}\na${delimiter}b,c,d\n`)).toEqual([
      { line: 2, values: { id: 'a', 'na,me': 'b,c,d' } },
    ]);
  });

  test('a row with more or fewer cells than the header is an error of that row only', async () => {
    expect(await read(csv, 'id,name\na\nb,B\nc,C,C\n')).toEqual([
      { line: 2, error: 'This row has 1 cell, but the header has 2' },
      { line: 3, values: { id: 'b', name: 'B' } },
      { line: 4, error: 'This row has 3 cells, but the header has 2' },
    ]);
  });

  test.each([
    ['an empty file', 1, '', /empty/],
    ['a repeated column', 1, 'id,id\n', /'id' occurs twice/],
    ['a header with more than 1,000 columns', 1, `${'a,'.repeat(1_000)}a\n`, /1001 columns/],
    ['an unclosed quote', 3, 'id,name\na,A\nb,"B\nc,C\n', /not closed/],
    ['a row of 5 MiB', 3, `id,name\na,A\nb,"${'x'.repeat(5 * 1024 * 1024)}"\n`, /This row is too long/],
    ['text after a closing quote', 2, 'id,name\na,"A"B\n', /closing quote/],
    ['text after the closing quote of a cell with two lines', 2, 'id,name\r\na,"A\r\nB"C\r\n', /closing quote/],
    ['a quote inside a cell', 2, 'id,name\na,A"B"\n', /does not begin with one/],
    [
      'a quote inside a cell after a row of two lines',
      4,
      'id,name\r\na,"A\r\n"\r\nb,B"\r\nc,C\r\n',
      /does not begin with one/,
    ],
  ])('%s is reported with the line number %i', async (_what, line, text, message) => {
    await expect(read(csv, text)).rejects.toMatchObject({ line, message: expect.stringMatching(message) });
  });

  test('cells with any text are read back unchanged, except in blank rows', async () => {
    const cell = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed());
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { maxLength: 6 }), async (rows) => {
        const text = ['a,b', ...rows.map((row) => row.map(quoted).join(','))].join('\r\n');
        const found = await read(csv, text);
        expect(found.map((record) => 'values' in record && [record.values.a, record.values.b])).toEqual(
          rows.filter((row) => row.some(isVisible)),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe('JSON Lines', () => {
  test('blank lines, CRLF and a last line without a line feed are accepted; an invalid line is an error of that line only', async () => {
    expect(await read(readJsonLines, '\ufeff{"id":"a"}\r\n\r\n[1]\n{"id"\n{"id":"b"}')).toEqual([
      { line: 1, values: { id: 'a' } },
      { line: 3, error: 'This row is not a JSON object' },
      { line: 4, error: expect.stringContaining('This is not JSON') },
      { line: 5, values: { id: 'b' } },
    ]);
  });
});

describe('JSON', () => {
  test('each item has its number and the number of the line on which it begins', async () => {
    expect(await read(readJson, '\ufeff[\n  {"id": "é",\n "team": [{"name": "[}"}]},\n\n 5, {"id": "b"}\n]\n')).toEqual(
      [
        { line: 2, item: 1, values: { id: 'é', team: [{ name: '[}' }] } },
        { line: 5, item: 2, error: 'This row is not a JSON object' },
        { line: 5, item: 3, values: { id: 'b' } },
      ],
    );
    expect(await read(readJson, '[]')).toEqual([]);
  });

  test('U+FEFF is a byte order mark only at the beginning of the file', async () => {
    const values = { id: 'a', name: '\ufeffé\ufeffb\ufeff' };
    expect(await read(readJson, `\ufeff${JSON.stringify([values])}`)).toEqual([{ line: 1, item: 1, values }]);
  });

  test.each([
    ['', 1, undefined, /ends before its JSON/],
    ['[{"id":"a"},\n', 2, 2, /ends before its JSON/],
    ['{"id":"a"}', 1, undefined, /one JSON array/],
    ['[\n{"id":"a"},\n{"id":oops}]', 3, 2, /not JSON/],
    ['[\n{"id":"a"}\n] trailing', 3, undefined, /not JSON/],
  ])('%j cannot be read beyond line %i, item %s', async (text, line, item, message) => {
    await expect(read(readJson, text)).rejects.toMatchObject({ line, item, message: expect.stringMatching(message) });
  });

  test('an item of 17 MiB is refused before it is complete, and a larger file of small items is read', async () => {
    const items = (count: number, bytes: number) => JSON.stringify(Array(count).fill({ name: 'é'.repeat(bytes / 2) }));
    expect(await read(readJson, items(20, 1024 * 1024))).toHaveLength(20);
    await expect(read(readJson, `[{"id":"a"},\n${items(1, 17 * 1024 * 1024).slice(1, -3)}`)).rejects.toMatchObject({
      line: 2,
      item: 2,
      message: 'The item is longer than 16 MiB, the maximum size of a row',
    });
  });

  test('an item that is nested more than 100 levels deep is refused', async () => {
    const nested = (levels: number) => `[${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}]`;
    expect(await read(readJson, nested(100))).toHaveLength(1);
    await expect(read(readJson, nested(101))).rejects.toMatchObject({
      line: 1,
      item: 1,
      message: 'The item is nested more than 100 levels deep',
    });
  });
});

test.each([
  ['CSV', csv, 'id\na\nb"c\nd\n'],
  ['JSON', readJson, '[{"id":"a"},\n{"id":b}]'],
])('the rows before an unreadable row of a %s file are read', async (_format, reader, content) => {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const records = reader(path);
  expect(await records.next()).toMatchObject({ value: { values: { id: 'a' } } });
  await expect(records.next()).rejects.toMatchObject({ name: 'UnreadableFileError' });
});

describe('UTF-8', () => {
  test.each([
    ['Latin-1', Buffer.from('{"id":"a"}\n{"id":"b"}\n{"name":"caf\xe9"}\n', 'latin1'), 3],
    ['UTF-16', Buffer.from('\ufeff{"id":"a"}\n', 'utf16le'), 1],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22, 0x0a]), 1],
    ['a character that is cut off', Buffer.from([0x0a, 0x22, 0xf0, 0x9f, 0x8c]), 2],
  ])('%s is refused with the number of its line', async (_what, bytes, line) => {
    await expect(read(readJsonLines, bytes)).rejects.toMatchObject({ name: 'UnreadableFileError', line });
  });

  test('characters that span two chunks are read correctly, and an error deep inside a large file has its line number', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => JSON.stringify({ id: `${index}`, name: '🌊é' }));
    const records = await read(readJsonLines, lines.join('\n'));
    expect(records.every((record) => 'values' in record && record.values.name === '🌊é')).toBe(true);
    const broken = Buffer.concat([Buffer.from(`${lines.join('\n')}\n`), Buffer.from([0xff, 0x0a])]);
    await expect(read(readJsonLines, broken)).rejects.toMatchObject({ line: 60_001 });
  });
});
