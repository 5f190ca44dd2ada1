import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { declaredDefaults } from '../../../tests/support/declared-defaults.ts';
import { counts, lines, NOW, openImportHarness } from '../../../tests/support/import-harness.ts';
import { listProducts } from '../products/list-products.ts';
import { readColumnMap } from './columns.ts';

let harness: Awaited<ReturnType<typeof openImportHarness>>;

beforeAll(async () => {
  harness = await openImportHarness();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

test('an import leaves no pending entries in the search indexes, because they slow down searches', async () => {
  await harness.run(lines(...Array.from({ length: 50 }, (_, n) => ({ id: `p-${n}`, name: `製品 ${n}` }))));
  const flush = 'SELECT gin_clean_pending_list(unnest($1::text[])::regclass)::integer AS pages';
  const pending = await harness.database.query(flush, [['products_search', 'products_grams']]);
  expect(pending).toEqual([{ pages: 0 }, { pages: 0 }]);
});

describe('fields', () => {
  test('fields of a row are stored, and missing ones get their declared defaults', async () => {
    const full = {
      id: 'tide',
      name: ' Tide ',
      description: 'Charts\nthat come & go 🌊',
      image: 'https://x.example/a,b.png',
      tags: 'charts, data , open,charts',
      category: 'Tools',
      maker: 'Ann',
      launchDate: 'January 22, 2023',
      team: [{ name: 'Ann', role: 'CEO', avatar: '/pictures/ann.svg' }, 'Bob'],
      screenshots: 'https://x.example/1,2.png, https://x.example/3.png',
      createdAt: '2023-01-22',
    };
    await harness.run(lines(full, { id: 'bare' }));
    expect(await harness.product('tide')).toEqual({
      ...declaredDefaults('tide', NOW.toISOString()),
      ...full,
      name: 'Tide',
      tags: ['charts', 'data', 'open'],
      team: [full.team[0], { name: 'Bob', role: '', avatar: '/pictures/avatar-default.svg' }],
      screenshots: ['https://x.example/1,2.png', 'https://x.example/3.png'],
      createdAt: '2023-01-22T00:00:00.000Z',
      ...{ upvotes: 0, comments: 0 },
    });
    expect(await harness.product('bare')).toEqual({
      ...declaredDefaults('bare', NOW.toISOString()),
      upvotes: 0,
      comments: 0,
    });
    expect(await harness.database.query('SELECT product_id FROM product_counts')).toHaveLength(2);
  });

  test('values at their limits are accepted, and each value beyond a limit is an error of its row', async () => {
    const atLimit = {
      id: 'a'.repeat(64),
      name: '🌊'.repeat(300),
      description: 'd'.repeat(10_000),
      tags: Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(60, 't')),
    };
    const team = Array.from({ length: 50 }, (_, index) => ({ name: `N${index}` }));
    const screenshots = Array.from({ length: 50 }, (_, index) => `/${index}.png`);
    const report = await harness.run(lines({ ...atLimit, team, screenshots }));
    expect(counts(report)).toEqual({ created: 1, updated: 0, unchanged: 0 });
    const errors = await harness.errorsOf(
      lines(
        { id: 'a'.repeat(65) },
        { name: '🌊'.repeat(301), description: 'd'.repeat(10_001) },
        { tags: ['t'.repeat(61)] },
        { tags: Array.from({ length: 21 }, (_, index) => `${index}`) },
        { team: [...team, { name: 'One more' }], screenshots: [...screenshots, '/50.png'] },
      ),
    );
    expect(errors.map((error) => error.split(':').slice(0, 2).join(':'))).toEqual([
      ...['1: id', '2: name', '2: description', '3: tags', '4: tags', '5: team', '5: screenshots'],
    ]);
  });

  test('values that cannot be stored or have the wrong type are errors', async () => {
    expect(
      await harness.errorsOf(
        '{"name":"a\\u0000b"}\n{"name":"\\ud800"}\n{"name":{}}\n{"createdAt":"02/03/2023"}\n{"createdAt":"2023-02-30"}\n' +
          '{"launchDate":"February 30, 2023"}\n{"image":"javascript:alert(1)"}\n{"team":{"role":"CEO"}}\n{"tags":5}\nno\n{"id":"No"}\n{"id":12345678901234567}\n{"team":"\u2060"}',
      ),
    ).toEqual([
      '1: name: it contains a NUL character',
      expect.stringContaining('2: name: it contains half a character'),
      '3: name: it must be text',
      expect.stringContaining("4: createdAt: '02/03/2023' is not a supported date"),
      "5: createdAt: '2023-02-30' is a date that does not exist",
      "6: launchDate: 'February 30, 2023' is a date that does not exist",
      expect.stringContaining('7: image: '),
      '8: team: a member of the team has no name',
      expect.stringContaining('9: tags: '),
      expect.stringContaining('10: null: This is not JSON'),
      expect.stringContaining("11: id: 'No' is not an id"),
      expect.stringContaining('12: id: the number has too many digits'),
      '13: team: a member of the team has no name',
    ]);
  });

  test('a tag without a visible character is left out', async () => {
    await harness.run(lines({ id: 'tide', tags: ['\u200b', 'AI'] }));
    expect(await harness.product('tide')).toMatchObject({ tags: ['AI'] });
  });

  test('the first 200 errors are listed and all are counted; an unreadable row does not hide earlier errors', async () => {
    const rows = Array.from({ length: 210 }, () => ({ name: {} }));
    await expect(harness.run(lines(...rows))).rejects.toMatchObject({ count: 210, errors: { length: 200 } });
    const text = `name,createdAt\na,never\nb,"`;
    expect(await harness.errorsOf(text, { kind: 'csv' })).toEqual([
      expect.stringContaining('2: createdAt'),
      expect.stringContaining('3: null: A quote'),
    ]);
  });
});

describe('columns', () => {
  test('--map reads a field from a column of another name; ignored columns are reported once', async () => {
    const map = readColumnMap(['name=Title', 'description = Tag line']);
    const csv = 'Title,Tag line,launch_date,name,upvotes,Extra\nTide,Charts,May 2020,Other,99,1\nEbb,Sand,,,,2\n';
    const report = await harness.run(csv, { kind: 'csv', map });
    expect(report).toMatchObject({ ignoredColumns: ['name', 'Extra'], ignoredCounts: ['upvotes'] });
    expect(await harness.product('tide')).toMatchObject({
      name: 'Tide',
      description: 'Charts',
      launchDate: 'May 2020',
      upvotes: 0,
    });
  });

  test.each([
    [['nonsense=Title'], /'nonsense' is not a field/],
    [['upvotes=Votes'], /'upvotes' is not a field/],
    [['name'], /field=column/],
    [['name=A', 'name=B'], /twice/],
  ])('--map %j is refused', (entries, message) => {
    expect(() => readColumnMap(entries)).toThrow(message);
  });

  test('--map with an empty column name ignores the column with the name of the field', async () => {
    const report = await harness.run(lines({ id: 'tide', name: 'Tide', launch_date: 'May 2020' }), {
      map: readColumnMap(['name=', 'launchDate=']),
    });
    expect(report).toMatchObject({ ignoredColumns: ['name', 'launch_date'] });
    expect(await harness.product('tide')).toMatchObject({ name: 'Untitled Product', launchDate: 'Today' });
  });

  test('a --map column that the file lacks is refused in CSV and JSON, and so is a header without any product field', async () => {
    const map = readColumnMap(['name=Title']);
    await expect(harness.run('id,name\na,A\n', { kind: 'csv', map })).rejects.toThrow(
      /no column 'Title'\. Its columns are 'id', 'name'/,
    );
    await expect(harness.run(lines({ id: 'a', name: 'A' }), { map })).rejects.toThrow(/no column 'Title'/);
    expect(await harness.ids()).toEqual([]);
    expect(await harness.errorsOf('Foo,Bar\n1,2\n', { kind: 'csv' })).toEqual([
      expect.stringContaining('1: null: No column is'),
    ]);
  });

  test('a missing column of --map is reported instead of the errors that it causes', async () => {
    const map = readColumnMap(['name=Headline']);
    await expect(harness.run('Title,Extra\nA,B\n', { kind: 'csv', map })).rejects.toThrow(
      /no column 'Headline'\. Its columns are/,
    );
    await expect(harness.run('[{"Title":"A"}]', { kind: 'json', map })).rejects.toThrow(
      /no column 'Headline'\. Its columns are/,
    );
  });

  test('two columns for the same field are refused, unless --map selects one', async () => {
    const csv = 'id,launchDate,launch_date\na,2021,2022\n';
    expect(await harness.errorsOf(csv, { kind: 'csv' })).toEqual([
      "1: null: The columns 'launchDate' and 'launch_date' map to the same field. Choose one with --map",
    ]);
    await harness.run(csv, { kind: 'csv', map: readColumnMap(['launchDate=launch_date']) });
    expect(await harness.product('a')).toMatchObject({ launchDate: '2022' });
  });

  test('columns named like inherited properties are ignored', async () => {
    const report = await harness.run('{"id":"a","__proto__":{"name":"Injected"},"constructor":1}');
    expect(report.ignoredColumns).toEqual(['__proto__', 'constructor']);
    expect(await harness.product('a')).toMatchObject({ name: 'Untitled Product' });
  });
});

test('a cancelled import changes no product and leaves no temporary file', async () => {
  const temporary = await mkdtemp(join(harness.folder, 'tmp-'));
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `p-${index}` }));
  for (const last of ['check', 'write']) {
    const seen: string[] = [];
    const onProgress = (stage: string) => {
      seen.push(stage, ...readdirSync(temporary));
      if (stage === last) throw new Error('Given up');
    };
    await expect(harness.run(lines(...rows), { onProgress })).rejects.toThrow('Given up');
    expect(new Set(seen)).toEqual(new Set(last === 'check' ? ['check'] : ['check', 'write']));
    expect(await harness.ids()).toEqual([]);
  }
  expect(await readdir(temporary)).toEqual([]);
});

test('an import that ends in a deadlock is retried, and its progress starts again', async () => {
  const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `p-${index}` }));
  const progress: number[] = [];
  const onProgress = (stage: string, done: number) => {
    if (stage === 'write') progress.push(done);
    if (progress.length !== 2) return;
    throw Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  };
  expect(counts(await harness.run(lines(...rows), { onProgress }))).toEqual({
    created: 1_200,
    updated: 0,
    unchanged: 0,
  });
  expect(progress).toEqual([500, 1_000, 500, 1_000, 1_200]);
  expect(await harness.ids()).toHaveLength(1_200);
});

test('--dry-run reports the changes without writing rows or pictures', async () => {
  await harness.run(lines({ id: 'a', name: 'A' }));
  const pictures = { from: join(harness.folder, 'from'), to: join(harness.folder, 'to') };
  await mkdir(pictures.from);
  await writeFile(join(pictures.from, 'a.svg'), '<svg/>');
  const file = lines({ id: 'a', name: 'New', image: 'a.svg' }, { id: 'b' });
  const report = await harness.run(file, { dryRun: true, pictures });
  expect(counts(report)).toEqual({ created: 1, updated: 1, unchanged: 0 });
  expect(await harness.product('a')).toMatchObject({ name: 'A' });
  expect(await harness.ids()).toEqual(['a']);
  await expect(readdir(pictures.to)).rejects.toThrow('ENOENT');
  expect(counts(await harness.run(file, { pictures }))).toEqual(counts(report));
  const [name = ''] = await readdir(pictures.to);
  expect(await harness.product('a')).toMatchObject({ image: `/images/${name}` });
});

test('importing a file again without its picture folder keeps the stored pictures, even for rows without ids', async () => {
  const pictures = { from: join(harness.folder, 'again'), to: join(harness.folder, 'stored') };
  await mkdir(pictures.from);
  await writeFile(join(pictures.from, 'a.svg'), '<svg/>');
  const team = [{ name: 'Ann', avatar: 'a.svg' }];
  const file = lines({ id: 'a', image: 'a.svg', screenshots: ['a.svg'], team }, { name: 'B', image: 'a.svg' });
  await harness.run(file, { pictures });
  const before = [await harness.product('a'), await harness.product('b')];
  const report = await harness.run(file);
  expect(counts(report)).toEqual({ created: 0, updated: 0, unchanged: 2 });
  expect(report.localPictures).toBe(4);
  expect([await harness.product('a'), await harness.product('b')]).toEqual(before);
  await harness.run(lines({ id: 'a', name: 'New', image: 'a.svg', team: [...team, { name: 'Bob', avatar: 'b.png' }] }));
  expect(await harness.product('a')).toEqual({
    ...before[0],
    name: 'New',
    team: [...(before[0]?.team ?? []), { name: 'Bob', role: '', avatar: '/pictures/avatar-default.svg' }],
  });
});

test('a new product whose pictures were not copied gets the default pictures', async () => {
  const screenshots = ['a.png', 'https://x.example/1.png'];
  await harness.run(lines({ id: 'a', image: 'a.png', screenshots, team: [{ name: 'Ann', avatar: 'a.png' }] }));
  expect(await harness.product('a')).toMatchObject({
    image: '/pictures/placeholder.svg',
    screenshots: ['https://x.example/1.png'],
    team: [{ name: 'Ann', avatar: '/pictures/avatar-default.svg' }],
  });
});

test('rows without times are listed in the order of the file, on the day of the import in the time zone of the site', async () => {
  const rows = ['m', 'z', 'a', 'k'].map((id) => ({ id }));
  const list = () => listProducts(harness.database, {}, NOW);
  const listed = async () => (await list()).items.map(({ id }) => id);
  await harness.run(lines(...rows));
  expect(await listed()).toEqual(['m', 'z', 'a', 'k']);
  await harness.clear();
  const midnight = new Date('2026-05-06T00:00:00.001Z');
  await harness.run(lines(...rows), { now: () => midnight });
  expect((await harness.product('k'))?.createdAt).toBe('2026-05-06T00:00:00.000Z');
  await harness.clear();
  const now = new Date('2026-11-21T08:00:00.001Z');
  await harness.run(lines(...rows), { now: () => now, timeZone: 'America/Los_Angeles' });
  expect((await harness.product('k'))?.createdAt).toBe('2026-11-21T08:00:00.000Z');
});

test('an import records the changed products by id, or as "everything changed" if there are many', async () => {
  await harness.run(lines({ id: 'a' }, { id: 'b' }));
  const changed = () => harness.database.query('SELECT product_ids, catalogue FROM changes WHERE catalogue');
  expect(await changed()).toEqual([{ product_ids: ['a', 'b'], catalogue: true }]);
  await harness.database.query('TRUNCATE changes');
  await harness.run(lines(...Array.from({ length: 2_000 }, (_, index) => ({ id: `many-${index}` }))));
  expect(await changed()).toEqual([{ product_ids: ['*'], catalogue: true }]);
  const logged = await harness.database.query('SELECT action, details FROM audit_log ORDER BY created_at DESC LIMIT 1');
  expect(logged).toEqual([{ action: 'import', details: { created: 2_000, updated: 0, unchanged: 0 } }]);
});
