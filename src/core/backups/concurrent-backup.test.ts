import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { checkCounts, repairCounts } from '../counts/check-counts.ts';
import type { Database } from '../database/database.ts';
import { readMigrations } from '../database/migrate.ts';
import { pictureName, storePicture } from '../pictures/picture-store.ts';
import { saveProducts } from '../products/save-products.ts';
import { verifyBackup } from './read-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { sendBackup, writeBackup } from './write-backup.ts';

const PRODUCTS = 300;

let folder: string;
let site: TestDatabase;
let target: TestDatabase;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-backup-'));
  [site, target] = await Promise.all([createTestDatabase(), createTestDatabase()]);
});
afterEach(async () => {
  await Promise.all([site.drop(), target.drop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Backs up `site` while every count is incremented before each table is read, and restores it into `target`. */
async function moveBusySite(): Promise<void> {
  const path = join(folder, 'busy.backup');
  await saveProducts(
    site,
    Array.from({ length: PRODUCTS }, (_, index) => buildProduct({ id: `busy-${index}` })),
  );
  const increment = () => site.query('UPDATE product_counts SET upvotes = upvotes + 1');
  await writeBackup(interruptTransactions(site, 'DECLARE', increment), path, { groundswell: '1.2.3' });
  expect(await site.query('SELECT min(upvotes) > 0 AS written FROM product_counts')).toEqual([{ written: true }]);
  const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  await restoreBackup(target, path, { replace: true, migrations, target: 'busy.backup' });
}
const upvotesInTarget = () => target.query('SELECT sum(upvotes)::integer AS sum FROM product_counts');

test('two backups can be written to the same file at the same time', async () => {
  const path = join(folder, 'same.backup');
  const backUp = () => writeBackup(site, path, { groundswell: '1.2.3' });
  const [{ header }] = await Promise.all([backUp(), backUp()]);
  expect((await verifyBackup(path)).tables).toEqual(header.tables);
  expect(await readdir(folder)).toEqual(['same.backup']);
});

test('the transaction of a backup ends before the pictures are sent to a slow receiver', async () => {
  const pictureFolder = join(folder, 'pictures');
  // Random content, so the compressed picture is larger than the buffers of the streams.
  const content = randomBytes(1_000_000);
  await storePicture(pictureFolder, pictureName(content, 'png'), content);
  let open = 0;
  const counting: Database = {
    ...site,
    async transaction(work) {
      open += 1;
      const result = await site.transaction(work);
      open -= 1;
      return result;
    },
  };
  const slow = new PassThrough();
  const sending = sendBackup(counting, slow, { groundswell: '1.2.3', pictureFolder });
  expect(open).toBe(1);
  const path = join(folder, 'slow.backup');
  try {
    await expect.poll(() => open).toBe(0);
    await expect.poll(() => slow.writableNeedDrain).toBe(true);
  } finally {
    await pipeline(slow, createWriteStream(path));
  }
  expect(await verifyBackup(path)).toEqual(await sending);
});

// Citus has no snapshot across servers (docs/scaling.md).
if (!isCitus) {
  test('a backup is one snapshot despite concurrent writes', async () => {
    await moveBusySite();
    expect(await upvotesInTarget()).toEqual([{ sum: 0 }]);
  });
} else {
  test('a backup of Citus is restored completely despite concurrent writes, and its counts can be repaired', async () => {
    await moveBusySite();
    const { wrong } = await checkCounts(target, { after: '', limit: 2 * PRODUCTS });
    await repairCounts(
      target,
      wrong.map(({ productId }) => productId),
    );
    expect(await upvotesInTarget()).toEqual([{ sum: 0 }]);
    expect(await target.query('SELECT id FROM products')).toHaveLength(PRODUCTS);
  });
}
