import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { checkCounts } from '../counts/check-counts.ts';
import { EXPORT_TABLES, ExportFileError, type ExportTable } from './export-format.ts';
import { loadExport } from './load-export.ts';
import { isExport, verifyExport } from './read-export.ts';
import { writeExport } from './write-export.ts';

let site: TestDatabase;
let other: TestDatabase;
let folder: string;
let path: string;

beforeAll(async () => {
  [site, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  folder = await mkdtemp(join(tmpdir(), 'groundswell-export-test-'));
  path = join(folder, 'site.jsonl');
});
afterAll(async () => {
  await Promise.all([site.drop(), other.drop()]);
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await site.query('TRUNCATE products CASCADE');
  await other.query('TRUNCATE products, changes CASCADE');
});

async function bytesOf(database: TestDatabase, tables: readonly ExportTable[] = EXPORT_TABLES): Promise<string> {
  const parts: string[] = [];
  await writeExport(database, {
    tables,
    async write(part) {
      parts.push(part);
    },
  });
  return parts.join('');
}

/** Two products with upvotes and comments, one of them held and one hidden. */
async function fill(database: TestDatabase, text = 'Text'): Promise<void> {
  await database.query(`INSERT INTO products (id, name, description, tags, team, created_at) VALUES
    ('a', $q$${'A'}$q$, 'One', '{x,"y,z"}', '[{"name":"Ann","extra":1.10}]', '2026-01-01 00:00:00.123Z'), ('b', 'B', 'Two', '{}', '[]', '0099-01-01Z')`);
  await database.query(
    `INSERT INTO comments (id, product_id, content, likes, held_for, hidden_at, created_at) VALUES
      ('00000000-0000-4000-8000-000000000001', 'a', $1, 3, NULL, NULL, '2026-01-02Z'),
      ('00000000-0000-4000-8000-000000000002', 'a', 'held', 0, 'session-1', NULL, '2026-01-03Z'),
      ('00000000-0000-4000-8000-000000000003', 'b', 'hidden', 0, NULL, '2026-01-05Z', '2026-01-04Z')`,
    [text],
  );
  await database.query(`INSERT INTO upvotes (id, product_id, user_session, created_at)
    SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'a', 'session-' || n, '2026-01-01Z' FROM generate_series(1, 600) n`);
}

test('an export taken in by an empty site makes the same bytes again, and right counts', async () => {
  await fill(site);
  const bytes = await bytesOf(site);
  expect(await bytesOf(site)).toBe(bytes);
  await writeFile(path, bytes);
  expect(await isExport(path)).toBe(true);
  expect(await verifyExport(path)).toBe(605);
  expect(await loadExport(other, path)).toEqual({
    products: { created: 2, updated: 0, unchanged: 0 },
    upvotes: { created: 600, updated: 0, unchanged: 0 },
    comments: { created: 3, updated: 0, unchanged: 0 },
  });
  expect(await bytesOf(other)).toBe(bytes);
  expect(await other.query('SELECT product_id, upvotes, comments FROM product_counts ORDER BY 1')).toEqual([
    { product_id: 'a', upvotes: 600, comments: 1 },
    { product_id: 'b', upvotes: 0, comments: 0 },
  ]);
  await other.query('TRUNCATE changes');
  expect(await loadExport(other, path)).toMatchObject({ products: { created: 0, updated: 0, unchanged: 2 } });
  expect(await other.query('SELECT FROM changes')).toEqual([]);
});

test('any text that PostgreSQL holds survives the way', async () => {
  const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((text) => !text.includes('\0'));
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 4, maxLength: 4 }), async ([name, tag, role, content]) => {
      for (const database of [site, other]) await database.query('DELETE FROM products');
      await site.query('INSERT INTO products (id, name, tags, team, search_text) VALUES ($1, $2, $3, $4, $2)', [
        'a',
        name,
        [tag, ''],
        JSON.stringify([{ name, role }]),
      ]);
      await site.query("INSERT INTO comments (id, product_id, content) VALUES (gen_random_uuid(), 'a', $1)", [content]);
      const bytes = await bytesOf(site);
      await writeFile(path, bytes);
      await loadExport(other, path);
      expect(await bytesOf(other)).toBe(bytes);
    }),
    { numRuns: 25 },
  );
});

test('chosen tables alone, in an order that can be taken in; a site that has rows keeps them and gets the new ones', async () => {
  await fill(site);
  await fill(other, 'Older text');
  await other.query("INSERT INTO products (id, name) VALUES ('c', 'C')");
  await writeFile(path, await bytesOf(site, ['comments', 'products']));
  expect(await loadExport(other, path)).toEqual({
    products: { created: 0, updated: 0, unchanged: 2 },
    comments: { created: 0, updated: 1, unchanged: 2 },
  });
  expect(await other.query('SELECT id FROM products ORDER BY id')).toHaveLength(3);
  expect((await checkCounts(other, { after: '', limit: 10 })).wrong).toEqual([]);
});

describe('an export that is not what was written is refused before anything is', () => {
  const damages: [string, (text: string) => string, RegExp][] = [
    ['cut off', (text) => text.slice(0, text.length / 2), /not the row|cut off/],
    ['without its last line', (text) => text.replace(/\{"end".*\n/, ''), /cut off/],
    ['with another value', (text) => text.replace('"Two"', '"Too"'), /not those that were written/],
    ['without a row', (text) => text.replace(/\{"products":\{"id":"b".*\n/, ''), /1 rows of products, not 2/],
    ['with other columns', (text) => text.replace('"description",', ''), /not what was written/],
    ['of another version', (text) => text.replace('"version":1', '"version":2'), /version 2/],
    ['with an unknown table', (text) => text.replace('"name":"upvotes"', '"name":"votes"'), /not known: votes/],
    ['with something behind it', (text) => `${text}{}\n`, /follows the last line/],
    ['with a damaged end', (text) => text.replace(/"rows":2,/, ''), /last line is damaged/],
  ];
  test.each(damages)('%s', async (_what, damage, message) => {
    await fill(site);
    const whole = await bytesOf(site);
    const damaged = damage(whole);
    expect(damaged).not.toBe(whole);
    await writeFile(path, damaged);
    await expect(verifyExport(path)).rejects.toThrow(message);
    await expect(loadExport(other, path)).rejects.toThrow(ExportFileError);
    expect(await other.query('SELECT FROM products')).toEqual([]);
  });
});

test('an export of a later version, with a column that this site has not, is refused by its name', async () => {
  await fill(site);
  await site.query("ALTER TABLE products ADD COLUMN later text NOT NULL DEFAULT 'x'");
  try {
    await writeFile(path, await bytesOf(site));
  } finally {
    await site.query('ALTER TABLE products DROP COLUMN later');
  }
  expect(await verifyExport(path)).toBe(605);
  await expect(loadExport(other, path)).rejects.toThrow(/a column later of products, .*Nothing was imported/);
  expect(await other.query('SELECT FROM products')).toEqual([]);
});

test('rows whose products are not there are refused, and so is what is no export at all', async () => {
  await fill(site);
  await writeFile(path, await bytesOf(site, ['upvotes']));
  await expect(loadExport(other, path)).rejects.toThrow(/foreign key.*Nothing was imported/);
  await writeFile(path, '{"id":"a"}\n');
  expect(await isExport(path)).toBe(false);
  await appendFile(path, await readFile(path));
  await expect(verifyExport(path)).rejects.toThrow(/is damaged/);
});
