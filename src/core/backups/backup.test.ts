import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { readMigrations } from '../database/migrate.ts';
import { pictureName, storePicture } from '../pictures/picture-store.ts';
import { saveProducts } from '../products/save-products.ts';
import { searchGramsOf } from '../products/search-grams.ts';
import { BackupFileError, restorePicture } from './backup-file.ts';
import { verifyBackup } from './read-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { EXCLUDED_TABLES, readTableShapes, SITE_TABLES } from './site-tables.ts';
import { writeBackup } from './write-backup.ts';

let folder: string;
let site: TestDatabase;
let target: TestDatabase;
let migrations: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-backup-'));
  [site, target] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  for (const database of [site, target]) await saveProducts(database, [buildProduct()]);
  migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
});
afterAll(async () => {
  await Promise.all([site.drop(), target.drop()]);
  await rm(folder, { recursive: true, force: true });
});

const backUp = (path: string, database = site) => writeBackup(database, path, { groundswell: '1.2.3' });
const restore = (path: string, replace = true) =>
  restoreBackup(target, path, { replace, migrations, target: 'site.backup' });

/** Reads all rows of the tables in backups, except the audit log, as PostgreSQL prints them. */
async function contentsOf(database: TestDatabase): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  for (const { name, key } of await readTableShapes(database, SITE_TABLES)) {
    if (name === 'audit_log') continue;
    const rows = await database.query<{ row: string }>(
      `SELECT t::text AS row FROM ${name} t ORDER BY ${key.join(', ')}`,
    );
    contents[name] = rows.map(({ row }) => row);
  }
  return contents;
}

/** Any text that PostgreSQL can store: all of Unicode except U+0000 and lone surrogates. */
const anyText = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', ''));
const ODDITIES = [
  '\u2028\u2029\u0085\r\n\t\\\\n',
  '"{},NULL',
  '\u{1f468}\u200d\u{1f469}',
  '\ufeff\u202e\ud7ff\ue000\uffff',
  '#{"end":true}',
];
const text = fc.oneof(anyText, fc.constantFrom('', ...ODDITIES));
const moment = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const row = fc.record({
  texts: fc.tuple(text, text, text),
  tags: fc.array(text, { maxLength: 4 }),
  team: fc.jsonValue({ maxDepth: 3 }).filter((value) => value !== null),
  moment,
  count: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  session: text,
  badge: fc.option(text),
});

describe('restoring a backup', () => {
  test('a restore reproduces every row exactly, for random texts, JSON, times and counts', async () => {
    const path = join(folder, 'round.backup');
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 6 }), async (rows) => {
        await site.query('DELETE FROM products');
        await site.query('DELETE FROM site_metadata');
        for (const [index, { texts, tags, team, moment, count, session, badge }] of rows.entries()) {
          const id = `p-${index}`;
          await site.query(
            `INSERT INTO products (id, name, description, image, tags, team, screenshots, created_at, search_text, tag_keys, search_grams)
             VALUES ($1, $2, $3, $4, $5::text[], replace($6, '\\u0000', '')::jsonb, $5::text[], $7, $2, $5::text[], $8)`,
            [id, ...texts, tags, JSON.stringify(team), moment, searchGramsOf(texts[0])],
          );
          await site.query('INSERT INTO product_counts (product_id, upvotes) VALUES ($1, $2)', [id, count]);
          await site.query(
            'INSERT INTO upvotes (id, product_id, user_session, created_at) VALUES (gen_random_uuid(), $1, $2, $3)',
            [id, session, moment],
          );
          await site.query(
            `INSERT INTO comments (id, product_id, author_name, author_badge, content, likes, created_at, held_session)
             VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $3)`,
            [id, texts[0], badge, texts[1], count, moment],
          );
          await site.query(
            'INSERT INTO site_metadata VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
            texts.slice(0, 2),
          );
        }
        await backUp(path);
        await restore(path);
        expect(await contentsOf(target)).toEqual(await contentsOf(site));
      }),
      { numRuns: 40 },
    );
  });

  test('a backup of the restored site has the same rows as the first backup in all tables before the audit log', async () => {
    const [first, second] = [join(folder, 'first.backup'), join(folder, 'second.backup')];
    await backUp(first);
    await restore(first);
    await backUp(second, target);
    const rowsOf = async (path: string) => {
      const lines = `${gunzipSync(await readFile(path))}`.split('\n');
      return lines.slice(1, lines.indexOf('#{"begin":"audit_log"}'));
    };
    expect(await rowsOf(second)).toEqual(await rowsOf(first));
  });
});

test("a backup includes the site's own pictures, but neither the targets of links nor damaged pictures", async () => {
  const path = join(folder, 'pictures.backup');
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  const content = Buffer.from('GIF89a and so on');
  const name = pictureName(content, 'gif');
  await storePicture(from, name, content);
  await writeFile(join(from, 'notes.txt'), 'not of the site');
  await symlink(join(from, 'notes.txt'), join(from, pictureName(Buffer.from('linked'), 'png')));
  const { header } = await writeBackup(site, path, { groundswell: '1.2.3', pictureFolder: from });
  expect(header.tables.at(-1)).toMatchObject({ name: 'pictures', rows: 2 });
  const options = { replace: true, migrations, target: 'site.backup', pictureFolder: to };
  await restoreBackup(target, path, options);
  await restoreBackup(target, path, options);
  expect(await readdir(to)).toEqual([name]);
  expect(await readFile(join(to, name))).toEqual(content);
  await writeFile(join(from, name), 'GIF89a of somebody else');
  const onDamaged = vi.fn();
  await writeBackup(site, path, { groundswell: '1.2.3', pictureFolder: from, onDamagedPicture: onDamaged });
  await rm(join(to, name));
  await restoreBackup(target, path, options);
  await restorePicture(to, JSON.stringify({ name, content: 'AAAA' }), { path, onDamaged });
  expect(onDamaged.mock.calls).toEqual([[name], [name]]);
  for (const line of ['', '{"name":', 'null', '7', '{"name":"../notes.txt","content":""}'])
    await expect(restorePicture(to, line, { path })).rejects.toThrow(BackupFileError);
  expect(await readdir(to)).toEqual([]);
});

test('a backup succeeds even if a picture is deleted in the meantime, and a restore skips that picture', async () => {
  const path = join(folder, 'deleted.backup');
  const [from, to] = [join(folder, 'deleted-from'), join(folder, 'deleted-to')];
  const content = Buffer.from('GIF89a that stays');
  const name = pictureName(content, 'gif');
  await storePicture(from, name, content);
  // A dangling link is listed, but reading it fails as if the picture had been deleted in the meantime.
  await symlink(join(from, 'gone'), join(from, pictureName(Buffer.from('gone'), 'webp')));
  await writeBackup(site, path, { groundswell: '1.2.3', pictureFolder: from });
  await restoreBackup(target, path, { replace: true, migrations, target: 'site.backup', pictureFolder: to });
  expect(await readdir(to)).toEqual([name]);
});

describe('writing a backup', () => {
  test('a backup has a header that describes its content, and only the owner of the file can read it', async () => {
    const path = join(folder, 'about.backup');
    const { header, bytes } = await backUp(path);
    const { mode, size } = await stat(path);
    expect([mode & 0o777, size]).toEqual([0o600, bytes]);
    expect(await verifyBackup(path)).toEqual(header);
    expect(header).toMatchObject({ backup: 'groundswell', version: 1, groundswell: '1.2.3', migrations });
    expect(Math.abs(Date.parse(header.createdAt) - Date.now())).toBeLessThan(60_000);
    const [{ products } = {}] = await site.query<{ products: number }>(
      'SELECT count(*)::integer AS products FROM products',
    );
    expect(header.tables[0]).toMatchObject({ name: 'products', rows: products });
  });

  test('an aborted backup leaves no file', async () => {
    const path = join(folder, 'given-up.backup');
    const controller = new AbortController();
    const writing = writeBackup(site, path, {
      groundswell: '1.2.3',
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(writing).rejects.toThrow();
    expect((await readdir(folder)).filter((name) => name.startsWith('given-up'))).toEqual([]);
  });

  test('a backup contains every table of the schema that is not explicitly excluded', async () => {
    const rows = await site.query<{ table_name: string }>(
      "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
    );
    const known = [...SITE_TABLES, ...EXCLUDED_TABLES];
    expect(rows.map((row) => row.table_name).sort()).toEqual(known.sort());
  });
});

describe('a file that cannot be restored is refused without changes', () => {
  let whole: Buffer;
  let before: Awaited<ReturnType<typeof contentsOf>>;
  const path = () => join(folder, 'broken.backup');

  beforeAll(async () => {
    const products = Array.from({ length: 300 }, (_, index) => buildProduct({ name: `Product ${index}` }));
    await saveProducts(site, products);
    await backUp(path());
    whole = await readFile(path());
    before = await contentsOf(target);
  });

  async function expectRefused(file: Buffer, reason: RegExp): Promise<void> {
    await writeFile(path(), file);
    await expect(verifyBackup(path())).rejects.toThrow(reason);
    // A restore without prior verification fails, too, and rolls back the rows before the error.
    await expect(restore(path())).rejects.toThrow(reason);
    expect(await contentsOf(target)).toEqual(before);
  }
  const changed = (change: (text: string) => string) => gzipSync(change(gunzipSync(whole).toString()));

  test('a truncated file is refused, even if only its last byte is missing', async () => {
    for (const share of [0, 0.001, 0.3, 0.7, 0.99]) {
      await expectRefused(whole.subarray(0, Math.floor(whole.length * share)), /truncated|not a backup/);
    }
    await expectRefused(whole.subarray(0, whole.length - 1), /truncated/);
  });

  test('a file with a flipped bit is refused', async () => {
    for (const share of [0.2, 0.5, 0.8]) {
      const flipped = Buffer.from(whole);
      const at = Math.floor(whole.length * share);
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      await expectRefused(flipped, /Cannot restore from/);
    }
  });

  test.each<[string, (text: string) => string, RegExp]>([
    [
      'an edited row',
      (text) => text.replace('Product', 'product'),
      /rows of products do not match their number or checksum/,
    ],
    ['a removed row', (text) => text.replace(/^\{.*\n/m, ''), /rows of products do not match/],
    ['a removed end marker', (text) => text.replace(/#\{"end".*\n/, ''), /does not end with an end marker/],
    ['an incomplete line after the end', (text) => `${text}{`, /does not end with an end marker/],
    ['another line after the end', (text) => `${text}#{"end":true}\n`, /continues after its end/],
    ['an edited header', (text) => text.replace('"1.2.3"', '"1.2.4"'), /checksum do not match its header/],
    ['a header without tables', (text) => text.replace('"tables"', '"chairs"'), /header is invalid/],
    ['a header with an invalid table', (text) => text.replace('"tables":[', '"tables":[null,'), /header is invalid/],
    ['a marker that is not JSON', (text) => text.replace('#{"begin"', '#{begin'), /lines is invalid/],
    [
      'an unexpected table',
      (text) => text.replace('#{"begin":"upvotes"}', '#{"begin":"likes"}'),
      /section for the table likes is out of order/,
    ],
    [
      'a newer version of the format',
      (text) => text.replace('"version":1', '"version":2'),
      /newer Groundswell.*upgrade first/,
    ],
    ['a file of another kind', () => 'id,name\n1,Tide\n', /not a backup/],
    ['an empty file', () => '', /not a backup/],
  ])('%s is refused', async (_, change, reason) => {
    await expectRefused(changed(change), reason);
  });

  test('uncompressed text, a folder, or a missing file is refused', async () => {
    await expectRefused(Buffer.from('hello'), /damaged, or not a backup/);
    await expect(verifyBackup(folder)).rejects.toThrow(/it is a folder/);
    await expect(verifyBackup(join(folder, 'none'))).rejects.toThrow(/there is no such file/);
  });

  test('a backup with a schema newer than this program is refused', async () => {
    await writeFile(path(), whole);
    const options = { replace: true, migrations: migrations.slice(0, -1), target: 'site.backup' };
    await expect(restoreBackup(target, path(), options)).rejects.toThrow(/newer Groundswell \(1\.2\.3.*upgrade first/);
    expect(await contentsOf(target)).toEqual(before);
  });

  test('without `replace`, a backup is restored only into an empty site', async () => {
    await writeFile(path(), whole);
    await expect(restore(path(), false)).rejects.toThrow(/not empty: it has \d+ products?\. Add --replace/);
    expect(await contentsOf(target)).toEqual(before);
    await target.query('DELETE FROM products');
    await restore(path(), false);
    expect(await contentsOf(target)).toEqual(await contentsOf(site));
  });
});

test('columns that are newer than a backup get their defaults, and a backup with an unknown column is refused', async () => {
  const path = join(folder, 'older.backup');
  await backUp(path);
  await target.query("ALTER TABLE products ADD COLUMN added_later text NOT NULL DEFAULT 'unknown'");
  await target.query('ALTER TABLE comments DROP COLUMN held_session');
  await expect(restore(path)).rejects.toThrow(/a column comments\.held_session that this version does not have/);
  await target.query('ALTER TABLE comments ADD COLUMN held_session text COLLATE "C"');
  await restore(path);
  expect(await target.query('SELECT DISTINCT added_later FROM products')).toEqual([{ added_later: 'unknown' }]);
  await target.query('ALTER TABLE products DROP COLUMN added_later');
});
