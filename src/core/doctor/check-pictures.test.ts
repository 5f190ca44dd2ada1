import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { limitStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Finding } from '../../contract/console/records.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { pictureAddress, pictureName, storePicture } from '../pictures/picture-store.ts';
import { saveProducts } from '../products/save-products.ts';
import { checkPictures, runDatabaseChecks } from './run-database-checks.ts';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'groundswell-check-pictures-'));
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const nameOf = (content: string) => pictureName(Buffer.from(content), 'webp');
const store = (content: string) => storePicture(folder, nameOf(content), Buffer.from(content));
const use = (...contents: string[]) =>
  saveProducts(
    database,
    contents.map((content) => buildProduct({ image: pictureAddress(nameOf(content)) })),
  );
const check = (store = folder) => checkPictures(database, store, new Date());

test('a site without pictures of its own passes the check', async () => {
  expect(await check(join(folder, 'missing'))).toEqual({ check: 'pictures', status: 'ok', message: '0 stored' });
});

test('stored pictures are counted, including unreferenced ones', async () => {
  await use('a');
  await store('a');
  await store('b');
  expect(await check()).toMatchObject({
    status: 'ok',
    message: '2 stored, 1 unreferenced (0.0 MiB)',
  });
});

test('a picture that a product references but the store lacks causes a warning that names it', async () => {
  await use('a', 'b', 'c', 'd', 'e');
  await store('a');
  expect(await check()).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/^\S+ lacks 4 of 5 pictures: (?:[0-9a-f]{40}\.webp, ){3}…$/),
  });
});

test('a damaged picture that a product references causes a warning that names it', async () => {
  await use('a', 'b');
  for (const content of ['a', 'b', 'unreferenced']) await store(content);
  for (const content of ['b', 'unreferenced']) await writeFile(join(folder, nameOf(content)), 'other');
  expect(await check()).toMatchObject({
    status: 'warning',
    message: `${folder} has 1 damaged picture, which backups leave out: ${nameOf('b')}`,
  });
});

test('a check of many pictures does not block the process, which also serves pages', async () => {
  const names = Array.from({ length: 16_000 }, (_, index) => nameOf(`${index}`));
  for (const name of names.slice(0, 8_000)) await writeFile(join(folder, name), '');
  const references = { query: async () => names.slice(4_000).map((name) => ({ name })) };
  const before = process.cpuUsage();
  const { message } = await checkPictures(references as unknown as Sql, folder, new Date());
  const { user } = process.cpuUsage(before);
  expect(message).toContain('lacks 8000 of 12000 pictures');
  // The check takes about 50 ms. Comparing every pair of names would take several seconds.
  expect(user / 1_000).toBeLessThan(1_000);
});

test('a database that fails is not reported as an unreadable folder', async () => {
  const broken = { query: () => Promise.reject(new CoreError('unavailable', 'away')) };
  await expect(checkPictures(broken, folder, new Date())).rejects.toMatchObject({ code: 'unavailable' });
});

test('an unreferenced picture that should have been deleted causes a warning', async () => {
  await store('old');
  const time = new Date(Date.now() - 3 * 24 * 60 * 60 * 1_000);
  await utimes(join(folder, nameOf('old')), time, time);
  expect(await check()).toMatchObject({ status: 'warning', advice: expect.stringContaining('DATA_DIR') });
});

test('doctor checks pictures even if finding the references takes longer than the statement timeout', async () => {
  const { limited, unlimited, sent } = limitStatements(database, '/images/');
  const connection = {
    database: limited,
    location: 'a test',
    withoutStatementTimeout: <Result>(work: (database: Database) => Promise<Result>) => work(unlimited),
  };
  const launches = { timeZone: 'UTC', reviewHours: 24 };
  const settings = { dataDir: folder, replicaUrls: [], launches, submissions: 'off', webhooks: undefined };
  const site = { connections: () => 1, migrations: MIGRATIONS, settings, now: new Date(), readsPictures: true };
  const found: Finding[] = [];
  for await (const finding of runDatabaseChecks(connection, site)) found.push(finding);
  expect(found).toContainEqual({ check: 'pictures', status: 'ok', message: '0 stored' });
  expect(sent()).toBeGreaterThan(0);
});
