import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { saveProducts } from '../products/save-products.ts';
import { writeBackup } from './write-backup.ts';

// Row-level security does not work on Citus.
const testRestricted = test.skipIf(isCitus);

testRestricted(
  'a backup by a role from which row-level security hides rows fails with advice, and leaves no file',
  async () => {
    const [database, folder] = [await createTestDatabase(), await mkdtemp(join(tmpdir(), 'groundswell-backup-'))];
    await saveProducts(database, [buildProduct()]);
    // The tests' role may not create roles, but it may use this one.
    await database.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO pg_monitor');
    const asRole = interruptTransactions(database, 'SET TRANSACTION', (sql) => sql.query('SET LOCAL ROLE pg_monitor'));
    const backUp = (name: string) => writeBackup(asRole, join(folder, name), { groundswell: '1.2.3' });
    await backUp('unrestricted.backup');
    await database.query('ALTER TABLE upvotes ENABLE ROW LEVEL SECURITY');
    await expect(backUp('restricted.backup')).rejects.toThrow(
      /^The database's role may not read all rows \(.*"upvotes"\)\. Let the role .* BYPASSRLS\.$/,
    );
    expect(await readdir(folder)).toEqual(['unrestricted.backup']);
    await database.drop();
    await rm(folder, { recursive: true });
  },
);
