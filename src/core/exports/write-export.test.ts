import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { PRODUCT_FIELD_NAMES, TEAM_MEMBER_LIMITS } from '../../contract/products/fields.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import type { Database } from '../database/database.ts';
import type { FileKind } from '../imports/check-file.ts';
import { importProducts } from '../imports/import-products.ts';
import { completeProduct, saveProducts } from '../products/save-products.ts';
import { type ExportOptions, writeExport } from './write-export.ts';

let site: TestDatabase;
let other: TestDatabase;
let folder: string;

beforeAll(async () => {
  [site, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  folder = await mkdtemp(join(tmpdir(), 'groundswell-export-test-'));
});
afterAll(async () => {
  await Promise.all([site.drop(), other.drop()]);
  await rm(folder, { recursive: true });
});
beforeEach(clear);

async function clear(): Promise<void> {
  for (const database of [site, other]) await database.query('DELETE FROM products');
}

const NOW = new Date('2026-05-06T07:08:09.123Z');
const KINDS: FileKind[] = ['csv', 'json', 'json-lines'];

async function exported(database: Database, options: Partial<ExportOptions> = {}): Promise<string> {
  const parts: string[] = [];
  const write = async (part: string) => void parts.push(part);
  await writeExport(database, { table: 'products', kind: 'csv', counts: false, write, ...options });
  return parts.join('');
}

async function importInto(database: TestDatabase, kind: FileKind, content: string) {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const options = { map: new Map(), slugifyIds: false, separator: ',', dryRun: false, now: () => NOW, timeZone: 'UTC' };
  const { created, ignoredCounts } = await importProducts(database, { path, kind, log: silentLog, ...options });
  return { created: created.count, ignoredCounts };
}

const save = (...products: Parameters<typeof completeProduct>[0][]) =>
  saveProducts(
    site,
    products.map((product) => completeProduct(product, NOW)),
  );

test('CSV has a header with the field names of a product, lists joined by commas, and the team as JSON', async () => {
  const team = [{ name: 'Ann', avatar: '/a.svg', role: 'CEO' }];
  await save({ id: 'b', name: 'B "x", y', tags: ['one', 'two'], screenshots: ['/1.png', '/2.png'], team });
  await save({ id: 'a', description: 'One\r\ntwo', tags: ['a, b', 'c'], createdAt: '2099-01-01T00:00:00.000Z' });
  const text = await exported(site);
  expect(text.split('\n')[0]).toBe(PRODUCT_FIELD_NAMES.join(','));
  expect(text).toContain(
    '\na,Untitled Product,"One\r\ntwo",/pictures/placeholder.svg,"[""a, b"",""c""]",Uncategorized,',
  );
  expect(text).toContain(
    '\nb,"B ""x"", y",No description available,/pictures/placeholder.svg,"one,two",Uncategorized,',
  );
  expect(text).toContain(',"[{""name"":""Ann"",""role"":""CEO"",""avatar"":""/a.svg""}]","/1.png,/2.png",');
  expect(text).toContain(',2099-01-01T00:00:00.000Z');
});

test('JSON is one array, JSON Lines one object per line, and both contain every field of a product except its counts', async () => {
  await save({ id: 'a', tags: ['x'] }, { id: 'b' });
  const products = [
    completeProduct({ id: 'a', tags: ['x'] }, NOW),
    completeProduct({ id: 'b' }, NOW),
  ] satisfies StoredProduct[];
  expect(JSON.parse(await exported(site, { kind: 'json' }))).toEqual(products);
  const lines = (await exported(site, { kind: 'json-lines' })).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(products);
  await clear();
  expect(JSON.parse(await exported(site, { kind: 'json' }))).toEqual([]);
  expect(await exported(site, { kind: 'json-lines' })).toBe('');
});

test.each(KINDS)('counts are added on request to %s, and an import ignores them', async (kind) => {
  await save({ id: 'a' });
  await site.query("UPDATE product_counts SET upvotes = 7, comments = 2 WHERE product_id = 'a'");
  const bytes = await exported(site, { kind, counts: true });
  expect(bytes).toMatch(kind === 'csv' ? /,7,2\n$/ : /"upvotes":7,"comments":2\}/);
  expect(await importInto(other, kind, bytes)).toEqual({ created: 1, ignoredCounts: ['upvotes', 'comments'] });
  expect(await exported(other, { kind, counts: true })).toContain(kind === 'csv' ? ',0,0\n' : '"upvotes":0');
});

test('upvotes and comments are exported without sessions; comments state whether they are public', async () => {
  await save({ id: 'a' });
  await site.query(`INSERT INTO upvotes (id, product_id, user_session, created_at)
    VALUES ('00000000-0000-4000-8000-000000000001', 'a', 'secret-1', '2026-01-01Z')`);
  await site.query(`INSERT INTO comments (id, product_id, content, author_badge, held_session, hidden_at, created_at) VALUES
    ('00000000-0000-4000-8000-000000000002', 'a', '=1+1', 'Maker', NULL, NULL, '2026-01-02Z'),
    ('00000000-0000-4000-8000-000000000003', 'a', 'held', NULL, 'secret-2', NULL, '2026-01-03Z'),
    ('00000000-0000-4000-8000-000000000004', 'a', 'hidden', NULL, NULL, '2026-01-05Z', '2026-01-04Z')`);
  expect(await exported(site, { table: 'upvotes' })).toBe(
    'id,productId,createdAt\n00000000-0000-4000-8000-000000000001,a,2026-01-01T00:00:00.000Z\n',
  );
  const avatar = '/pictures/avatar-default.svg';
  expect(await exported(site, { table: 'comments' })).toBe(
    [
      'id,productId,authorName,authorAvatar,authorBadge,content,likes,createdAt,state',
      `00000000-0000-4000-8000-000000000002,a,Anonymous,${avatar},Maker,'=1+1,0,2026-01-02T00:00:00.000Z,public`,
      `00000000-0000-4000-8000-000000000003,a,Anonymous,${avatar},,held,0,2026-01-03T00:00:00.000Z,held`,
      `00000000-0000-4000-8000-000000000004,a,Anonymous,${avatar},,hidden,0,2026-01-04T00:00:00.000Z,hidden`,
      '',
    ].join('\n'),
  );
});

test('a submission that is older than a field of products is exported with an empty value for that field', async () => {
  await site.query(`INSERT INTO submissions (id, status, fields, key_hashes, created_at, updated_at, waiting_since)
    VALUES ('a', 'waiting', '{"name": "Tide"}', '{}', '2026-01-01Z', '2026-01-01Z', '2026-01-01Z')`);
  expect(await exported(site, { table: 'submissions' })).toContain(
    '\na,waiting,,,Tide,,,,,,,,2026-01-01T00:00:00.000Z,2026-01-01T00:00:00.000Z,\n',
  );
  const [json] = JSON.parse(await exported(site, { table: 'submissions', kind: 'json' }));
  expect(json).toMatchObject({ name: 'Tide', category: '', tags: [] });
});

// Row-level security does not work on Citus.
const testRestricted = test.skipIf(isCitus);

testRestricted('an export by a role from which row-level security hides rows fails with advice', async () => {
  const restricted = await createTestDatabase();
  // The tests' role may not create roles, but it may use this one.
  await restricted.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO pg_monitor');
  const asRole = interruptTransactions(restricted, 'SET TRANSACTION', (sql) => sql.query('SET LOCAL ROLE pg_monitor'));
  await restricted.query('ALTER TABLE upvotes ENABLE ROW LEVEL SECURITY');
  expect(await exported(asRole, { table: 'comments', kind: 'json-lines' })).toBe('');
  await expect(exported(asRole, { table: 'upvotes' })).rejects.toThrow(
    /^The database's role may not read all rows \(.*"upvotes"\)\. Let the role .* BYPASSRLS\.$/,
  );
  await restricted.drop();
});

describe('round trips through an empty site', () => {
  const text = (maxLength: number) =>
    fc
      .oneof(
        fc.string({ unit: 'binary', maxLength }),
        fc.string({ unit: fc.constantFrom(...',;|"\'[]{}=+-@\n\r\t 1a🌊'), maxLength }),
      )
      .map((drawn) => drawn.replaceAll('\0', '').toWellFormed().trim())
      .filter((trimmed) => trimmed !== '');
  const address = fc.oneof(
    fc.constantFrom(
      'https://x.example/a,b.png',
      'https://x.example/;/|',
      '/a,/b.png',
      '/a\nb',
      'data:image/png;base64,AA==',
    ),
    text(20).map((path) => `/${path}`),
  );
  const role = fc.oneof(fc.constant(''), text(TEAM_MEMBER_LIMITS.maxCharacters));
  const product = fc.record(
    {
      id: fc.stringMatching(/^[a-z0-9](-?[a-z0-9]){0,9}$/),
      name: text(60),
      description: text(200),
      image: address,
      tags: fc.uniqueArray(text(20), { maxLength: 6 }),
      category: text(20),
      maker: text(20),
      launchDate: text(20).filter((date) => !/\d/.test(date)),
      team: fc.array(fc.record({ name: text(20), avatar: address, role }), { maxLength: 3 }),
      screenshots: fc.array(address, { maxLength: 4 }),
      // Includes future times, because scheduled products are exported, too.
      createdAt: fc
        .date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
        .map((date) => date.toISOString()),
    },
    { requiredKeys: ['id'] },
  );

  test.each(KINDS)('an export as %s can be imported and exported again without a difference', async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(product, { selector: ({ id }) => id, minLength: 1, maxLength: 5 }),
        async (products) => {
          await clear();
          await save(...products);
          const bytes = await exported(site, { kind });
          expect(await importInto(other, kind, bytes)).toEqual({ created: products.length, ignoredCounts: [] });
          expect(await exported(other, { kind })).toBe(bytes);
        },
      ),
      { numRuns: 40 },
    );
  });
});
