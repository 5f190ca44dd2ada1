import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { getProduct } from '../products/get-product.ts';
import { readColumnMap } from './fields.ts';
import { type ImportOptions, type ImportReport, importProducts } from './import-products.ts';

const NOW = new Date('2026-05-06T07:08:09.123Z');

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'groundswell-import-test-'));
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});
beforeEach(() => database.query('TRUNCATE products, changes, acts CASCADE'));

async function run(content: string, options: Partial<ImportOptions> = {}): Promise<ImportReport> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const defaults = { kind: 'json-lines', map: new Map(), slugifyIds: false, dryRun: false, now: NOW } as const;
  return importProducts(database, { path, ...defaults, ...options });
}

const lines = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

/** What an import did, in numbers. */
function counts({ created, updated, unchanged }: ImportReport) {
  return { created: created.count, updated: updated.count, unchanged };
}

async function ids(): Promise<string[]> {
  return (await database.query<{ id: string }>('SELECT id FROM products ORDER BY id')).map(({ id }) => id);
}

async function product(id: string) {
  return (await getProduct(database, id))?.product;
}

/** The faults of a file that is refused, as they are printed; and that nothing was written. */
async function faultsOf(content: string, options: Partial<ImportOptions> = {}): Promise<string[]> {
  const before = await ids();
  const error = await run(content, options).then(
    () => expect.unreachable('It was imported'),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'ImportRefusedError' });
  expect(await ids()).toEqual(before);
  return error.faults.map(({ line, field, reason }: Record<string, unknown>) => `${line}: ${field}: ${reason}`);
}

describe('fields', () => {
  test('what a row brings is taken, and what it lacks takes the defaults of the specification', async () => {
    const full = {
      id: 'tide',
      name: ' Tide ',
      description: 'Charts\nthat come & go 🌊',
      image: 'https://x.example/a,b.png',
      tags: 'charts, data;open | charts',
      category: 'Tools',
      maker: 'Ann',
      launchDate: 'January 22, 2023',
      team: [{ name: 'Ann', role: 'CEO', avatar: '/pictures/ann.svg' }, 'Bob'],
      screenshots: 'https://x.example/1,2.png; https://x.example/3.png',
      createdAt: '2023-01-22',
    };
    await run(lines(full, { id: 'bare' }));
    expect(await product('tide')).toEqual({
      ...full,
      name: 'Tide',
      tags: ['charts', 'data', 'open'],
      team: [full.team[0], { name: 'Bob', role: '', avatar: '/pictures/avatar-default.svg' }],
      screenshots: ['https://x.example/1,2.png', 'https://x.example/3.png'],
      createdAt: '2023-01-22T00:00:00.000Z',
      ...{ upvotes: 0, comments: 0 },
    });
    expect(await product('bare')).toEqual({
      id: 'bare',
      name: 'Untitled Product',
      description: 'No description available',
      image: '/pictures/placeholder.svg',
      ...{
        tags: [],
        category: 'Uncategorized',
        maker: 'Unknown Maker',
        launchDate: 'Today',
        team: [],
        screenshots: [],
      },
      createdAt: NOW.toISOString(),
      ...{ upvotes: 0, comments: 0 },
    });
    expect(await database.query('SELECT product_id FROM product_counts')).toHaveLength(2);
  });

  test('values at their limits are taken, and each that is beyond is a fault of its row', async () => {
    const atLimit = {
      id: 'a'.repeat(64),
      name: '🌊'.repeat(300),
      description: 'd'.repeat(10_000),
      tags: ['t'.repeat(60)],
    };
    const team = Array.from({ length: 50 }, (_, index) => ({ name: `N${index}` }));
    expect(counts(await run(lines({ ...atLimit, team })))).toEqual({ created: 1, updated: 0, unchanged: 0 });
    const faults = await faultsOf(
      lines(
        { id: 'a'.repeat(65) },
        { name: '🌊'.repeat(301), description: 'd'.repeat(10_001) },
        { tags: ['t'.repeat(61)] },
        { tags: Array.from({ length: 21 }, (_, index) => `${index}`) },
        {
          team: [...team, { name: 'One more' }],
          screenshots: Array.from({ length: 51 }, (_, index) => `/${index}.png`),
        },
      ),
    );
    expect(faults.map((fault) => fault.split(':').slice(0, 2).join(':'))).toEqual([
      ...['1: id', '2: name', '2: description', '3: tags', '4: tags', '5: team', '5: screenshots'],
    ]);
  });

  test('what cannot be stored or is not meant is a fault', async () => {
    expect(
      await faultsOf(
        '{"name":"a\\u0000b"}\n{"name":"\\ud800"}\n{"name":{}}\n{"createdAt":"02/03/2023"}\n{"createdAt":"2023-02-30"}\n' +
          '{"launchDate":"February 30, 2023"}\n{"image":"javascript:alert(1)"}\n{"team":[{"role":"CEO"}]}\n{"tags":5}\nno\n{"id":"No"}',
      ),
    ).toEqual([
      '1: name: it holds a NUL character',
      expect.stringContaining('2: name: it holds half a character'),
      '3: name: this must be a text',
      expect.stringContaining("4: createdAt: '02/03/2023' is not a date"),
      "5: createdAt: '2023-02-30' is a date that does not exist",
      "6: launchDate: 'February 30, 2023' is a date that does not exist",
      expect.stringContaining('7: image: '),
      '8: team: a member of the team has no name',
      expect.stringContaining('9: tags: '),
      expect.stringContaining('10: null: This is not JSON'),
      expect.stringContaining("11: id: 'No' is not an id"),
    ]);
  });

  test('the first twenty faults are named and all are counted, those of a file that breaks off among them', async () => {
    const rows = Array.from({ length: 30 }, () => ({ name: {} }));
    await expect(run(lines(...rows))).rejects.toMatchObject({ count: 30, faults: { length: 20 } });
    const text = `name,createdAt\na,never\nb,"`;
    expect(await faultsOf(text, { kind: 'csv' })).toEqual([
      expect.stringContaining('2: createdAt'),
      expect.stringContaining('3: null: A quote'),
    ]);
  });
});

describe('columns', () => {
  test('--map takes a field from a column of another name; what is left over is named once', async () => {
    const map = readColumnMap(['name=Title', 'description = Tag line']);
    const csv = 'Title,Tag line,launch_date,name,upvotes,Extra\nTide,Charts,May 2020,Other,99,1\nEbb,Sand,,,,2\n';
    const report = await run(csv, { kind: 'csv', map });
    expect(report).toMatchObject({ ignoredColumns: ['name', 'Extra'], ignoredCounts: ['upvotes'] });
    expect(await product('tide')).toMatchObject({
      name: 'Tide',
      description: 'Charts',
      launchDate: 'May 2020',
      upvotes: 0,
    });
  });

  test.each([
    [['nonsense=Title'], /no field 'nonsense'/],
    [['upvotes=Votes'], /no field 'upvotes'/],
    [['name'], /field=column/],
    [['name='], /field=column/],
    [['name=A', 'name=B'], /twice/],
  ])('--map %j does not fit a product', (texts, message) => {
    expect(() => readColumnMap(texts)).toThrow(message);
  });

  test('a column that the file lacks is refused, in CSV and in JSON, and so is a header of no field', async () => {
    const map = readColumnMap(['name=Title']);
    await expect(run('id,name\na,A\n', { kind: 'csv', map })).rejects.toThrow(
      /no column 'Title'; there are 'id', 'name'/,
    );
    await expect(run(lines({ id: 'a', name: 'A' }), { map })).rejects.toThrow(/no column 'Title'/);
    expect(await ids()).toEqual([]);
    expect(await faultsOf('Foo,Bar\n1,2\n', { kind: 'csv' })).toEqual([
      expect.stringContaining('1: null: No column is'),
    ]);
  });

  test('a name that only a prototype has is no column', async () => {
    const report = await run('{"id":"a","__proto__":{"name":"Injected"},"constructor":1}');
    expect(report.ignoredColumns).toEqual(['__proto__', 'constructor']);
    expect(await product('a')).toMatchObject({ name: 'Untitled Product' });
  });
});

describe('which product a row is', () => {
  test('by its id: upvotes and comments stay, a field that is not there stays, a blank one takes the default', async () => {
    await run(lines({ id: 'a', name: 'A', description: 'Old', tags: ['x'], createdAt: '2020' }));
    await database.query("INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'a', 's')");
    await database.query("UPDATE product_counts SET upvotes = 1 WHERE product_id = 'a'");
    const report = await run(lines({ id: 'a', description: '', maker: 'New' }));
    expect(report.updated.first).toEqual([
      {
        id: 'a',
        line: 1,
        changes: [
          { field: 'description', before: 'Old', after: 'No description available' },
          { field: 'maker', before: 'Unknown Maker', after: 'New' },
        ],
      },
    ]);
    expect(await product('a')).toMatchObject({
      name: 'A',
      tags: ['x'],
      createdAt: '2020-01-01T00:00:00.000Z',
      upvotes: 1,
    });
  });

  test('importing again changes, writes and notes nothing', async () => {
    const file = lines({ id: 'a', name: 'A' }, { name: 'B' }, { name: 'B' }, { name: 'B', description: 'other' });
    expect(counts(await run(file))).toEqual({ created: 4, updated: 0, unchanged: 0 });
    expect(await ids()).toEqual(['a', 'b', 'b-2', 'b-3']);
    const versions = () => database.query('SELECT id, xmin::text FROM products ORDER BY id');
    const before = await versions();
    await database.query('TRUNCATE changes, acts');
    expect(counts(await run(file, { now: new Date() }))).toEqual({ created: 0, updated: 0, unchanged: 4 });
    expect(await versions()).toEqual(before);
    expect(await database.query('SELECT FROM changes')).toEqual([]);
    expect(await database.query('SELECT FROM acts')).toEqual([]);
  });

  test('a row without an id takes over nobody, whatever the order and the ids around it', async () => {
    await run(lines({ id: 'foo', name: 'Foo', description: 'somebody else’s' }, { id: 'foo-3', name: 'Three' }));
    const file = [{ name: 'Foo 2' }, { name: 'Foo' }, { name: 'foo!' }, { id: 'foo-4', name: 'Four' }, { name: 'Foo' }];
    expect(counts(await run(lines(...file)))).toEqual({ created: 5, updated: 0, unchanged: 0 });
    expect(await product('foo')).toMatchObject({ description: 'somebody else’s' });
    const made = await ids();
    expect(made).toHaveLength(7);
    expect(counts(await run(lines(...file.toReversed())))).toEqual({ created: 0, updated: 0, unchanged: 5 });
    expect(await ids()).toEqual(made);
  });

  test('a name of no Latin letter, or of too many, still makes a legal id, the same again', async () => {
    const file = lines({ name: '日本語' }, { name: '🌊' }, { name: 'é'.repeat(300) }, { name: 'é'.repeat(299) });
    expect(counts(await run(file))).toMatchObject({ created: 4 });
    expect(await ids()).toEqual([
      'e'.repeat(56),
      `${'e'.repeat(56)}-2`,
      expect.stringMatching(/^product-[0-9a-f]{10}$/),
      expect.stringMatching(/^product-[0-9a-f]{10}$/),
    ]);
    expect(counts(await run(file))).toMatchObject({ unchanged: 4 });
  });

  test('the last of equal ids wins, and the others are named', async () => {
    const report = await run(lines({ id: 'a', name: 'First' }, { id: 'b' }, { id: 'a', name: 'Last' }));
    expect(report.repeatedIds).toEqual([{ id: 'a', line: 1 }]);
    expect(counts(report)).toEqual({ created: 2, updated: 0, unchanged: 0 });
    expect(await product('a')).toMatchObject({ name: 'Last' });
  });

  test('--slugify-ids makes ids legal, and refuses two that become one', async () => {
    await run(lines({ id: 'Crème Brûlée' }, { id: 12 }), { slugifyIds: true });
    expect(await ids()).toEqual(['12', 'creme-brulee']);
    expect(await faultsOf(lines({ id: 'A b' }, { id: 'a-b' }, { id: '🌊' }), { slugifyIds: true })).toEqual([
      "2: id: 'a-b' becomes a-b, and so does 'A b' in line 1",
      expect.stringContaining('3: id: nothing of'),
    ]);
  });

  test('a new product with the name of another is named as a possible duplicate', async () => {
    await run(lines({ id: 'tide', name: 'Tide' }));
    const report = await run(lines({ id: 'x', name: 'TIDE!' }, { id: 'y', name: 'Ebb' }, { id: 'z', name: 'ebb' }));
    expect(report.duplicates.first.map(({ id, of }) => [id, of]).sort()).toEqual([
      ['x', 'tide'],
      ['z', 'y'],
    ]);
    expect((await run(lines({ id: 'x', name: 'TIDE!' }))).duplicates.count).toBe(0);
  });
});

test('--dry-run finds what would change and writes nothing, not even a picture', async () => {
  await run(lines({ id: 'a', name: 'A' }));
  const pictures = { from: join(folder, 'from'), to: join(folder, 'to') };
  await mkdir(pictures.from);
  await writeFile(join(pictures.from, 'a.svg'), '<svg/>');
  const file = lines({ id: 'a', name: 'New', image: 'a.svg' }, { id: 'b' });
  const report = await run(file, { dryRun: true, pictures });
  expect(counts(report)).toEqual({ created: 1, updated: 1, unchanged: 0 });
  expect(await product('a')).toMatchObject({ name: 'A' });
  expect(await ids()).toEqual(['a']);
  await expect(readdir(pictures.to)).rejects.toThrow('ENOENT');
  expect(counts(await run(file, { pictures }))).toEqual(counts(report));
  const [name = ''] = await readdir(pictures.to);
  expect(await product('a')).toMatchObject({ image: `/images/${name}` });
});

test('what changed is noted in the same transaction: by name, or, where it is much, all at once', async () => {
  await run(lines({ id: 'a' }, { id: 'b' }));
  expect(await database.query('SELECT product_ids, catalogue FROM changes')).toEqual([
    { product_ids: ['a', 'b'], catalogue: true },
  ]);
  await database.query('TRUNCATE changes');
  await run(lines(...Array.from({ length: 2_000 }, (_, index) => ({ id: `many-${index}` }))));
  expect(await database.query('SELECT product_ids, catalogue FROM changes')).toEqual([
    { product_ids: ['*'], catalogue: true },
  ]);
  expect(await database.query('SELECT act, details FROM acts ORDER BY acted_at DESC LIMIT 1')).toEqual([
    { act: 'import', details: { created: 2_000, updated: 0, unchanged: 0 } },
  ]);
});
