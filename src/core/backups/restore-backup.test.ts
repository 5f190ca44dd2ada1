import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { planOfProduct, shrinkProducts } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { readMigrations } from '../database/migrate.ts';
import { LOCK_IMPORTS } from '../imports/merge-products.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { restoreBackup, SiteNotEmptyError } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

let folder: string;
let database: TestDatabase;
let migrations: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-backup-'));
  database = await createTestDatabase();
  migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

test('a restore without `replace` does not discard removed products or final results, and removals can still be undone', async () => {
  const path = join(folder, 'empty.backup');
  const restore = () => restoreBackup(database, path, { replace: false, migrations, target: 'empty.backup' });
  await writeBackup(database, path, { groundswell: '1.2.3' });
  await saveProducts(database, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
  await removeProducts(database, ['tide', 'ebb']);
  await expect(restore()).rejects.toMatchObject({ name: 'SiteNotEmptyError', content: '2 removed products' });
  await database.query(
    `INSERT INTO leaderboards (period, kind, time_zone, from_at, to_at, final_at)
     VALUES ('2026-06-09', 'day', 'UTC', '2026-06-09T00:00:00Z', '2026-06-10T00:00:00Z', '2026-06-11T00:00:00Z')`,
  );
  await expect(restore()).rejects.toMatchObject({ content: '2 removed products and 1 final result' });
  const { restored } = await restoreProducts(database, { productIds: ['tide', 'ebb'] });
  expect(restored.map(({ id }) => id).sort()).toEqual(['ebb', 'tide']);
});

// On Citus, the plans are those of the shards.
const testPlan = test.skipIf(isCitus);

testPlan('after a restore, other processes replan statements that they had prepared for a small table', async () => {
  const path = join(folder, 'large.backup');
  await saveProducts(
    database,
    Array.from({ length: 2_000 }, (_, index) => buildProduct({ id: `tide-${index}` })),
  );
  await writeBackup(database, path, { groundswell: '1.2.3' });
  await database.query("DELETE FROM products WHERE id <> 'tide-1'");
  await shrinkProducts(database);
  const connection = openDatabase({ url: database.url, log: silentLog, maxConnections: 1 });
  expect(await planOfProduct(connection, 'tide-1')).toMatch(/Seq Scan on products/);
  await restoreBackup(database, path, { replace: true, migrations, target: 'large.backup' });
  expect(await planOfProduct(connection, 'tide-1')).not.toMatch(/Seq Scan/);
  await connection.close();
});

test('a restore records its change with the last statement of its transaction, so other processes cannot miss it', async () => {
  const path = join(folder, 'change.backup');
  await writeBackup(database, path, { groundswell: '1.2.3' });
  const { database: recording, statements } = recordStatements(database);
  // Records only the statements of the transaction.
  const transacting = { ...database, transaction: recording.transaction };
  await restoreBackup(transacting, path, { replace: true, migrations, target: 'change.backup' });
  expect(statements.at(-1)?.text).toMatch(/^INSERT INTO changes /);
});

test('a committed restore succeeds, even if the statistics cannot be updated afterwards', async () => {
  const path = join(folder, 'statistics.backup');
  await saveProducts(database, [buildProduct({ id: 'restored' })]);
  await writeBackup(database, path, { groundswell: '1.2.3' });
  await database.query("DELETE FROM products WHERE id = 'restored'");
  const failing: Database = {
    ...database,
    query: (text, ...rest) =>
      text.startsWith('ANALYZE') ? Promise.reject(new Error('The connection was lost')) : database.query(text, ...rest),
  };
  await restoreBackup(failing, path, { replace: true, migrations, target: 'statistics.backup' });
  expect(await database.query("SELECT id FROM products WHERE id = 'restored'")).toEqual([{ id: 'restored' }]);
});

test('a restore that waits for an import or a write blocks no visitors and can be stopped, and a restore that is refused does not wait', async () => {
  const path = join(folder, 'waiting.backup');
  await writeBackup(database, path, { groundswell: '1.2.3' });
  await saveProducts(database, [buildProduct({ id: 'waiting' })]);
  const write = "UPDATE product_counts SET upvotes = upvotes WHERE product_id = 'waiting'";
  for (const lock of [LOCK_IMPORTS, 'LOCK TABLE products IN ROW EXCLUSIVE MODE']) {
    await database.transaction(async (sql) => {
      await sql.query(lock);
      let isWritten = false;
      const onProgress = () => {
        if (isWritten) throw new Error('Stopped');
        database.query(write).then(() => (isWritten = true));
      };
      const restore = (replace: boolean) =>
        restoreBackup(database, path, { replace, migrations, target: 'waiting.backup', onProgress });
      await expect(restore(true)).rejects.toThrow('Stopped');
      await expect(restore(false)).rejects.toThrow(SiteNotEmptyError);
    });
  }
});
