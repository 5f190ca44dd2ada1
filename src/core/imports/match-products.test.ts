import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { counts, lines, openImportHarness } from '../../../tests/support/import-harness.ts';

let harness: Awaited<ReturnType<typeof openImportHarness>>;

beforeAll(async () => {
  harness = await openImportHarness();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

test('a row updates the product with its id: upvotes and missing fields stay unchanged, and blank fields except the time get defaults', async () => {
  await harness.run(lines({ id: 'a', name: 'A', description: 'Old', tags: ['x'], createdAt: '2020' }));
  await harness.database.query(
    "INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'a', 's')",
  );
  await harness.database.query("UPDATE product_counts SET upvotes = 1 WHERE product_id = 'a'");
  const report = await harness.run(lines({ id: 'a', description: '', maker: 'New', createdAt: '' }));
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
  expect(await harness.product('a')).toMatchObject({
    name: 'A',
    tags: ['x'],
    createdAt: '2020-01-01T00:00:00.000Z',
    upvotes: 1,
  });
});

test('importing a file again writes no product and records no change', async () => {
  const file = lines({ id: 'a', name: 'A' }, { name: 'B' }, { name: 'B' }, { name: 'B', description: 'other' });
  expect(counts(await harness.run(file))).toEqual({ created: 4, updated: 0, unchanged: 0 });
  expect(await harness.ids()).toEqual(['a', 'b', 'b-2', 'b-3']);
  const versions = () => harness.database.query('SELECT id, xmin::text FROM products ORDER BY id');
  const before = await versions();
  await harness.database.query('TRUNCATE changes, audit_log');
  expect(counts(await harness.run(file, { now: () => new Date() }))).toEqual({ created: 0, updated: 0, unchanged: 4 });
  expect(await versions()).toEqual(before);
  expect(await harness.database.query('SELECT FROM changes')).toEqual([]);
  expect(await harness.database.query('SELECT FROM audit_log')).toEqual([]);
});

test('a row without an id never overwrites another product, regardless of the order of the rows', async () => {
  await harness.run(lines({ id: 'foo', name: 'Foo', description: 'somebody else’s' }, { id: 'foo-3', name: 'Three' }));
  const file = [{ name: 'Foo 2' }, { name: 'Foo' }, { name: 'foo!' }, { id: 'foo-4', name: 'Four' }, { name: 'Foo' }];
  expect(counts(await harness.run(lines(...file)))).toEqual({ created: 5, updated: 0, unchanged: 0 });
  expect(await harness.product('foo')).toMatchObject({ description: 'somebody else’s' });
  const made = await harness.ids();
  expect(made).toHaveLength(7);
  expect(counts(await harness.run(lines(...file.toReversed())))).toEqual({ created: 0, updated: 0, unchanged: 5 });
  expect(await harness.ids()).toEqual(made);
});

test('a name that has no Latin letters or is too long always gets the same valid id', async () => {
  const file = lines({ name: '日本語' }, { name: '🌊' }, { name: 'é'.repeat(300) }, { name: 'é'.repeat(299) });
  expect(counts(await harness.run(file))).toMatchObject({ created: 4 });
  expect(await harness.ids()).toEqual([
    'e'.repeat(56),
    `${'e'.repeat(56)}-2`,
    expect.stringMatching(/^product-[0-9a-f]{10}$/),
    expect.stringMatching(/^product-[0-9a-f]{10}$/),
  ]);
  expect(counts(await harness.run(file))).toMatchObject({ unchanged: 4 });
});

test('if several rows have the same id, the last one is imported, and the others are reported', async () => {
  const report = await harness.run(lines({ id: 'a', name: 'First' }, { id: 'b' }, { id: 'a', name: 'Last' }));
  expect(report.repeatedIds).toEqual([{ id: 'a', line: 1 }]);
  expect(counts(report)).toEqual({ created: 2, updated: 0, unchanged: 0 });
  expect(await harness.product('a')).toMatchObject({ name: 'Last' });
});

test('--slugify-ids slugifies ids, and refuses two ids that become equal', async () => {
  await harness.run(lines({ id: 'Crème Brûlée' }, { id: 12 }), { slugifyIds: true });
  expect(await harness.ids()).toEqual(['12', 'creme-brulee']);
  expect(await harness.errorsOf(lines({ id: 'A b' }, { id: 'a-b' }, { id: '🌊' }), { slugifyIds: true })).toEqual([
    "2: id: 'a-b' becomes a-b, and so does 'A b' in line 1: give one of the rows another id",
    expect.stringContaining('cannot be slugified'),
  ]);
});

test('a new product with the name of another is reported as a possible duplicate', async () => {
  await harness.run(lines({ id: 'tide', name: 'Tide' }));
  const report = await harness.run(
    lines({ id: 'x', name: 'TIDE!' }, { id: 'y', name: 'Ebb' }, { id: 'z', name: 'ebb' }),
  );
  expect(report.duplicates.first.map(({ id, of }) => [id, of]).sort()).toEqual([
    ['x', 'tide'],
    ['z', 'y'],
  ]);
  expect((await harness.run(lines({ id: 'x', name: 'TIDE!' }))).duplicates.count).toBe(0);
});

/** Creates a folder with a picture, and a function that replaces the picture. */
async function openPictures(name: string) {
  const pictures = { from: join(harness.folder, name), to: join(harness.folder, `${name}-stored`) };
  await mkdir(pictures.from);
  const replace = (title: string) => writeFile(join(pictures.from, 'a.svg'), `<svg><title>${title}</title></svg>`);
  await replace('First');
  return { pictures, replace };
}

test.each([
  [
    'csv',
    'name,image,screenshots,team\nTide,a.svg,,\nEbb,,a.svg,\nWave,,,"[{""name"":""Ann"",""avatar"":""a.svg""}]"\n',
  ],
  [
    'json-lines',
    lines(
      { name: 'Tide', image: 'a.svg' },
      { name: 'Ebb', screenshots: ['a.svg'] },
      { name: 'Wave', team: [{ name: 'Ann', avatar: 'a.svg' }] },
    ),
  ],
] as const)(
  'in %s, rows without ids update their products if their pictures are copied later or replaced',
  async (kind, file) => {
    const { pictures, replace } = await openPictures(kind);
    await harness.run(file, { kind });
    const updated = { created: 0, updated: 3, unchanged: 0 };
    expect(counts(await harness.run(file, { kind, pictures, dryRun: true }))).toEqual(updated);
    expect(counts(await harness.run(file, { kind, pictures }))).toEqual(updated);
    const [first = ''] = await readdir(pictures.to);
    await replace('Second');
    expect(counts(await harness.run(file, { kind, pictures }))).toEqual(updated);
    const second = (await readdir(pictures.to)).find((name) => name !== first);
    expect(await harness.ids()).toEqual(['ebb', 'tide', 'wave']);
    expect(await harness.product('tide')).toMatchObject({ image: `/images/${second}` });
    expect(await harness.product('ebb')).toMatchObject({ screenshots: [`/images/${second}`] });
    expect(await harness.product('wave')).toMatchObject({ team: [{ avatar: `/images/${second}` }] });
    expect(counts(await harness.run(file, { kind, pictures }))).toEqual({ created: 0, updated: 0, unchanged: 3 });
  },
);

test('a row with local pictures does not take the product of another row, and prefers a product without pictures', async () => {
  const { pictures, replace } = await openPictures('equal');
  const [local, linked, none] = [{ image: 'a.svg' }, { image: 'https://x.example/b.png' }, {}];
  const file = lines(...[local, linked, none].map((fields) => ({ name: 'Tide', ...fields })));
  await harness.run(file, { pictures });
  await replace('Second');
  expect(counts(await harness.run(file, { pictures }))).toEqual({ created: 0, updated: 1, unchanged: 2 });
  await replace('Third');
  expect(counts(await harness.run(lines({ name: 'Tide', ...local }), { pictures }))).toMatchObject({ updated: 1 });
  expect((await harness.product('tide-3'))?.image).not.toBe('/pictures/placeholder.svg');
});
