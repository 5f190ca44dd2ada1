import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCore } from '../../src/core/core.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { CommandHarness, databasePids, runCommand } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { jsonOf } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

/** The properties that the commands of these tests print as JSON. */
interface Printed {
  comments: { id: string; productId: string; content: string }[];
  entries: { action: string }[];
  days: object[];
  product: object;
}

describe('moderation on the embedded database, with and without a running site', () => {
  test('hiding or restoring a comment and removing a product take effect on a running site, and the removal can be undone later', async () => {
    const settings = { DATA_DIR: await harness.sampleDataDir(), LOG_LEVEL: 'warn' };
    const run = (...parameters: string[]) => jsonOf<Printed>(parameters, settings);
    const site = await harness.serve(settings);
    const get = (path: string) => fetch(`${site.address}${path}`);
    const comment = (await run('comments', 'list', '--limit', '1')).comments[0] ?? expect.unreachable();
    const { productId: id, content } = comment;
    const page = async () => {
      const response = await get(`/product/${id}`);
      return { status: response.status, shows: (await response.text()).includes(content.slice(0, 40)) };
    };
    const soon = (expected: object) => expect.poll(page, { interval: 50 }).toEqual(expected);
    await soon({ status: 200, shows: true });

    await run('comments', 'hide', comment.id, '--reason', 'spam');
    await soon({ status: 200, shows: false });
    await run('comments', 'restore', comment.id);
    await soon({ status: 200, shows: true });
    const before = await (await get(`/api/products/${id}`)).json();
    await run('products', 'remove', '--yes', id);
    await soon({ status: 410, shows: false });
    await expect.poll(async () => (await get(`/api/products/${id}`)).status).toBe(404);

    const { entries } = await run('log');
    expect(entries.map(({ action }) => action)).toEqual(['products remove', 'comments restore', 'comments hide']);
    expect((await run('stats', '--days', '1')).days).toHaveLength(1);

    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0 });
    await run('products', 'undo');
    expect((await run('products', 'show', id)).product).toEqual(before.product);
    expect(await databasePids(settings.DATA_DIR)).toEqual([]);
  });
});

describe('removals and restorations by command', () => {
  let database: TestDatabase;
  let id: string;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  beforeEach(async () => {
    id = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id })]);
    const core = createCore(database);
    for (let index = 0; index < 3; index += 1) {
      await core.setUpvote({ productId: id, session: `session-${index}`, upvoted: true });
      await core.addComment({ productId: id, content: `Comment ${index}` }, { session: `session-${index}` });
    }
  });

  afterAll(async () => {
    expect((await checkCounts(database, { after: '', limit: 1_000 })).wrong).toEqual([]);
    await database.drop();
  });

  /** Returns all rows of products, of removals and of the audit log. */
  async function state(): Promise<unknown> {
    const tables = [
      'products',
      'product_counts',
      'upvotes',
      'comments',
      'removed_products',
      'removed_upvotes',
      'removed_comments',
      'audit_log',
    ];
    const rows = await Promise.all(
      tables.map((table) => database.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`)),
    );
    return Object.fromEntries(tables.map((table, index) => [table, rows[index]]));
  }

  const backends = async (condition: string) =>
    (
      await database.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
      )
    ).map(({ query }) => query);

  /** Kills a command after all its work, while its last statement waits for a lock. */
  async function killAtLastStatement(...parameters: string[]): Promise<void> {
    await database.transaction(async (sql) => {
      await sql.query('LOCK TABLE changes IN ACCESS EXCLUSIVE MODE');
      const command = harness.start(parameters, { settings: { DATABASE_URL: database.url } });
      await expect
        .poll(() => backends("wait_event_type = 'Lock'"))
        .toEqual([expect.stringContaining('INSERT INTO changes')]);
      command.process.kill('SIGKILL');
      await command.exited;
    });
    // Waits until the server has detected the closed connection and has rolled back.
    await expect.poll(() => backends("state <> 'idle'")).toEqual([]);
  }

  test.each([[['products', 'remove', '--yes']], [['products', 'restore']]])(
    '%j leaves the site unchanged if it is killed during its last statement',
    async (parameters) => {
      if (parameters.includes('restore')) await removeProducts(database, [id]);
      const before = await state();
      await killAtLastStatement(...parameters, id);
      expect(await state()).toEqual(before);
    },
  );

  test('a completed removal deletes the product with its upvotes and comments, and stores their numbers', async () => {
    const { code } = await runCommand(['products', 'remove', '--yes', id], {
      settings: { DATABASE_URL: database.url },
    });
    expect(code).toBe(0);
    const left = await database.query(
      'SELECT id FROM products WHERE id = $1 UNION ALL SELECT product_id FROM upvotes WHERE product_id = $1 UNION ALL SELECT product_id FROM comments WHERE product_id = $1',
      [id],
    );
    expect(left).toEqual([]);
    expect(await database.query('SELECT upvotes, comments FROM removed_products WHERE product_id = $1', [id])).toEqual([
      { upvotes: 3, comments: 3 },
    ]);
  });
});
