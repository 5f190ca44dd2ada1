import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createCore } from '../core.ts';
import { checkCounts } from '../counts/check-counts.ts';
import { saveProducts } from '../products/save-products.ts';
import { DISTRIBUTED_TABLES, distribute, isDistributed } from './citus.ts';
import { openDatabase } from './database.ts';
import { migrate, readMigrations } from './migrate.ts';
import { requireReplicable } from './replicas.ts';

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
});

afterEach(() => database.drop());

const distributed = () =>
  database.query(
    `SELECT logicalrelid::text AS name, column_to_column_name(logicalrelid, partkey) AS column FROM pg_dist_partition ORDER BY 1`,
  );
const all = DISTRIBUTED_TABLES.toSorted((one, other) => (one.name < other.name ? -1 : 1));

// The database server of the test run decides which branch is tested (docs/testing.md).
if (!isCitus) {
  test('without Citus, no table is distributed and replicas are allowed', async () => {
    await migrate(database, MIGRATIONS, silentLog);
    expect(await distribute(database, silentLog)).toEqual([]);
    expect(await isDistributed(database)).toBe(false);
    await requireReplicable(database);
  });
} else {
  describe('on Citus', () => {
    test('tables of products, votes and comments are distributed by product and colocated, and foreign keys still apply', async () => {
      await migrate(database, MIGRATIONS, silentLog);
      expect(await distributed()).toEqual(all);
      expect(await database.query('SELECT DISTINCT colocationid FROM pg_dist_partition')).toHaveLength(1);
      await expect(database.query("INSERT INTO product_counts (product_id) VALUES ('unknown')")).rejects.toThrow(
        'violates foreign key constraint',
      );
      expect(await migrate(database, MIGRATIONS, silentLog)).toEqual([]);
      expect(await distribute(database, silentLog)).toEqual([]);
      expect(await isDistributed(database)).toBe(true);
    });

    test('replicas are refused with one line of advice', async () => {
      await expect(requireReplicable(database)).rejects.toThrow(/^DATABASE_REPLICA_URL: .* Leave it unset/);
    });

    test('several processes that start at the same time distribute the tables once', async () => {
      const others = Array.from({ length: 3 }, () => openDatabase({ url: database.url, log: silentLog }));
      try {
        await Promise.all(others.map((other) => migrate(other, MIGRATIONS, silentLog)));
      } finally {
        await Promise.all(others.map((other) => other.close()));
      }
      expect(await distributed()).toEqual(all);
    });

    test('later migrations are applied to distributed tables with rows', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'groundswell-migrations-'));
      try {
        for (const { name, sql } of await readMigrations(MIGRATIONS)) await writeFile(join(folder, name), sql);
        await migrate(database, folder, silentLog);
        expect(await distributed()).toEqual(all);
        await database.query("INSERT INTO products (id, search_text) VALUES ('early', 'early')");
        await database.query("INSERT INTO product_counts (product_id) VALUES ('early')");
        const later = '9999_later.sql';
        const change =
          "ALTER TABLE products ADD COLUMN later text NOT NULL DEFAULT '';\nUPDATE products SET later = id;\n";
        await writeFile(join(folder, later), change);
        expect(await migrate(database, folder, silentLog)).toEqual([later]);
        expect(await database.query('SELECT later FROM products')).toEqual([{ later: 'early' }]);
        const core = createCore(database);
        expect(await core.setUpvote({ productId: 'early', session: 'session-12345678', upvoted: true })).toEqual({
          upvoted: true,
          upvotes: 1,
        });
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    test('upvotes and comments on many products are written concurrently, and every count matches its rows', async () => {
      await migrate(database, MIGRATIONS, silentLog);
      const products = Array.from({ length: 20 }, () => buildProduct());
      await saveProducts(database, products);
      const core = createCore(database);
      const session = 'session-12345678';
      await Promise.all(
        products.flatMap(({ id }) => [
          core.setUpvote({ productId: id, session, upvoted: true }),
          core.addComment({ productId: id, content: 'Well made' }, { session, idempotencyKey: id }),
        ]),
      );
      expect((await checkCounts(database, { after: '', limit: 100 })).wrong).toEqual([]);
      const rows = await database.query('SELECT upvotes, comments FROM product_counts');
      expect(rows).toEqual(products.map(() => ({ upvotes: 1, comments: 1 })));
    });
  });
}
