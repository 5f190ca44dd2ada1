import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { IMPORT_HEARTBEAT_MS, type ImportEvent, MAX_IMPORT_BYTES } from '../../../contract/console/records.ts';
import { guessColumns, mapTexts } from './columns.tsx';
import { readCsvSample, readFile, readRowsAt } from './read-file.ts';
import { runImport } from './run-import.ts';

describe('CSV', () => {
  test('semicolon-separated cells with quotes and line breaks are parsed, and blank rows are skipped', () => {
    const { columns, rows } = readCsvSample('\ufeffid;Title\r\n1;"Wave; ""high"""\r\n2;"two\nlines"\r\n ; \r\n3;last');
    expect(columns).toEqual(['id', 'Title']);
    expect(rows).toEqual([
      { line: 2, values: { id: '1', Title: 'Wave; "high"' } },
      { line: 3, values: { id: '2', Title: 'two\nlines' } },
      { line: 6, values: { id: '3', Title: 'last' } },
    ]);
  });

  test('lines that end with only CR are parsed, and separators inside quotes in the header are ignored', () => {
    const sample = readCsvSample('id,"a;b;c;d"\r1,"two\nlines"\r2,last\r');
    expect(sample.columns).toEqual(['id', 'a;b;c;d']);
    expect(sample.rows).toEqual([
      { line: 2, values: { id: '1', 'a;b;c;d': 'two\nlines' } },
      { line: 4, values: { id: '2', 'a;b;c;d': 'last' } },
    ]);
  });

  test('only the first 50 rows of a long CSV file are returned', () => {
    const text = `name\n${Array.from({ length: 500 }, (_, index) => `Row ${index}`).join('\n')}`;
    expect(readCsvSample(text).rows).toHaveLength(50);
  });
});

test('rows of JSON and JSON Lines are numbered; unknown formats and JSON without an array are rejected', async () => {
  const json = await readFile(new File([JSON.stringify([{ name: 'A', tags: ['x'] }, { title: 'B' }])], 'a.json'));
  expect(json).toMatchObject({
    kind: 'json',
    columns: ['name', 'tags', 'title'],
    rows: [{ item: 1, values: { name: 'A', tags: '["x"]' } }, { item: 2 }],
  });
  const lines = await readFile(new File(['{"name":"A"}\nnot json\n{"name":"B"}\n'], 'a.jsonl'));
  expect(lines.rows.map(({ line }) => line)).toEqual([1, 3]);
  await expect(readFile(new File([''], 'a.xlsx'))).rejects.toThrow('must end in .csv');
  await expect(readFile(new File(['{}'], 'a.json'))).rejects.toThrow('an array');
});

test('the columns of a JSON file include those of items after the first 50 rows', async () => {
  const items = [...Array.from({ length: 60 }, () => ({ name: 'A' })), null, 'text', { name: 'B', maker: 'C' }];
  const { columns, rows } = await readFile(new File([JSON.stringify(items)], 'a.json'));
  expect(columns).toEqual(['name', 'maker']);
  expect(rows).toHaveLength(50);
});

test('a file larger than 64 MiB is rejected without being read', async () => {
  const file = new File([], 'a.json');
  Object.defineProperty(file, 'size', { value: MAX_IMPORT_BYTES + 1 });
  await expect(readFile(file)).rejects.toThrow('larger than 64 MiB');
});

test('columns are guessed by the names of fields and then by synonyms, and each column is used once', () => {
  expect(guessColumns(['Title', 'name', 'Launch Date', 'created_at', 'Topics', 'Logo URL', 'Votes'])).toEqual({
    name: 'name',
    launchDate: 'Launch Date',
    createdAt: 'created_at',
    tags: 'Topics',
    image: 'Logo URL',
  });
  expect(guessColumns(['Title'])).toEqual({ name: 'Title' });
});

test('a column named like a field is ignored if the operator chose no column or another column for the field', () => {
  const columns = ['Title', 'name', 'created_at', 'Topics'];
  expect(mapTexts({ name: 'Title', tags: 'Topics' }, columns)).toEqual(['name=Title', 'tags=Topics', 'createdAt=']);
  expect(mapTexts({}, ['name'])).toEqual(['name=']);
});

test('rows with errors are found anywhere in the file, by line or by item', async () => {
  const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
  const csv = await readFile(new File([`name\n"two\nlines"\n\n${numbers.join('\n')}\n`], 'a.csv'));
  expect(await readRowsAt(csv, [{ line: 2 }, { line: 154 }, { line: 204 }, { line: 999 }])).toEqual([
    { line: 2, values: { name: 'two\nlines' } },
    { line: 154, values: { name: '150' } },
    { line: 204, values: { name: '200' } },
  ]);
  const json = await readFile(new File([JSON.stringify(numbers.map((name) => ({ name })))], 'a.json'));
  expect(await readRowsAt(json, [{ line: 1, item: 150 }])).toEqual([{ line: 1, item: 150, values: { name: '150' } }]);
  const lines = await readFile(new File([numbers.map((name) => `{"name":${name}}`).join('\n')], 'a.jsonl'));
  expect(await readRowsAt(lines, [{ line: 150 }])).toEqual([{ line: 150, values: { name: '150' } }]);
});

test.each([
  ['an import asks for confirmation before the page is closed, until the import ends', false],
  ['a dry run does not ask for confirmation before the page is closed', true],
])('%s', async (_name, dryRun) => {
  const page = new EventTarget();
  vi.stubGlobal('window', page);
  onTestFinished(() => void vi.unstubAllGlobals());
  const isAsked = () => {
    const event = new Event('beforeunload', { cancelable: true });
    // Node.js has no `BeforeUnloadEvent`. Old browsers read only this property of the event.
    Object.defineProperty(event, 'returnValue', { value: false, writable: true });
    page.dispatchEvent(event);
    return event.defaultPrevented && event.returnValue;
  };
  const asked: boolean[] = [];
  vi.stubGlobal('fetch', async () => {
    asked.push(isAsked());
    const event: ImportEvent = { kind: 'failed', message: 'Nothing was imported.' };
    return new Response(`${JSON.stringify(event)}\n`);
  });
  const chosen = await readFile(new File(['id,name\na,Wave'], 'a.csv'));
  await runImport(chosen, { choice: {}, slugifyIds: false, dryRun, onProgress: () => {} });
  expect([...asked, isAsked()]).toEqual([!dryRun, false]);
});

test('an import fails if its connection is silent for too long, but not while progress arrives', async () => {
  vi.useFakeTimers();
  vi.stubGlobal('window', new EventTarget());
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const progress: ImportEvent = { kind: 'progress', stage: 'check', done: 1 };
  let request = (_controller: ReadableStreamDefaultController<Uint8Array>) => {};
  const requested = new Promise<ReadableStreamDefaultController<Uint8Array>>((resolve) => {
    request = resolve;
  });
  vi.stubGlobal('fetch', async (_address: string, { signal }: { signal: AbortSignal }) => {
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      signal.addEventListener('abort', () => controller.error(signal.reason));
      request(controller);
    };
    return new Response(new ReadableStream({ start }));
  });
  let arrived = () => {};
  const chosen = await readFile(new File(['id,name\na,Wave'], 'a.csv'));
  const running = runImport(chosen, { choice: {}, slugifyIds: false, dryRun: false, onProgress: () => arrived() });
  const failed = expect(running).rejects.toThrow('The connection was lost.');
  const response = await requested;
  for (let line = 1; line <= 12; line += 1) {
    const received = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    response.enqueue(new TextEncoder().encode(`${JSON.stringify(progress)}\n`));
    await received;
    await vi.advanceTimersByTimeAsync(IMPORT_HEARTBEAT_MS);
  }
  await vi.advanceTimersByTimeAsync(3 * IMPORT_HEARTBEAT_MS);
  await failed;
});
