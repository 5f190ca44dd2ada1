import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCore } from '../../src/core/core.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { databasesOf, Ground, installCommand, runCommand } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const ground = new Ground();

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
afterEach(() => ground.clear());

describe('beside a running site, and without one, on the embedded database', () => {
  test('what is removed, hidden and restored shows within seconds, and stays so', async () => {
    const settings = { DATA_DIR: await ground.dataDir(), LOG_LEVEL: 'warn' };
    const run = async (...parameters: string[]) => {
      const { code, stdout, stderr } = await runCommand([...parameters, '--json'], { settings });
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const site = await ground.serve(settings);
    const get = (path: string) => fetch(`${site.address}${path}`);
    const [comment] = (await run('comments', 'list', '--limit', '1')).comments;
    const { productId: id, content } = comment;
    const page = async () => {
      const answer = await get(`/product/${id}`);
      return { status: answer.status, shows: (await answer.text()).includes(content.slice(0, 40)) };
    };
    const soon = (expected: object) => expect.poll(page, { timeout: 10_000, interval: 50 }).toEqual(expected);
    await soon({ status: 200, shows: true });

    await run('comments', 'hide', comment.id, '--reason', 'spam');
    await soon({ status: 200, shows: false });
    await run('comments', 'restore', comment.id);
    await soon({ status: 200, shows: true });
    const before = await (await get(`/api/products/${id}`)).json();
    await run('products', 'remove', '--yes', id);
    await soon({ status: 410, shows: false });
    expect((await get(`/api/products/${id}`)).status).toBe(404);

    const { acts } = await run('log');
    expect(acts.map(({ act }: { act: string }) => act)).toEqual([
      'products remove',
      'comments restore',
      'comments hide',
    ]);
    expect((await run('stats', '--days', '1')).days).toHaveLength(1);

    site.process.kill('SIGTERM');
    expect(await site.ended).toMatchObject({ code: 0 });
    await run('products', 'undo');
    expect((await run('products', 'show', id)).product).toEqual(before.product);
    expect(await databasesOf(settings.DATA_DIR)).toEqual([]);
  });
});

describe('a command that is killed', () => {
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

  /** All that is known of the product, whether it is on the site or removed. */
  async function state(): Promise<unknown> {
    const tables = [
      'products',
      'product_counts',
      'upvotes',
      'comments',
      'removed_products',
      'removed_upvotes',
      'removed_comments',
      'acts',
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

  /** Kills a command when it has done all its work and only its last statement is missing, which waits for a lock. */
  async function killAtLastStatement(...parameters: string[]): Promise<void> {
    const command = ground.start(parameters, { settings: { DATABASE_URL: database.url } });
    await database.transaction(async (sql) => {
      await sql.query('LOCK TABLE changes IN ACCESS EXCLUSIVE MODE');
      await expect
        .poll(() => backends("wait_event_type = 'Lock'"), { timeout: 60_000 })
        .toEqual([expect.stringContaining('INSERT INTO changes')]);
      command.process.kill('SIGKILL');
      await command.ended;
    });
    // The server notices that nobody is there any more, and rolls back.
    await expect.poll(() => backends("state <> 'idle'"), { timeout: 60_000 }).toEqual([]);
  }

  test.each([[['products', 'remove', '--yes']], [['products', 'restore']]])(
    '%j: the site is as it was before',
    async (parameters) => {
      if (parameters.includes('restore')) await removeProducts(database, [id]);
      const before = await state();
      await killAtLastStatement(...parameters, id);
      expect(await state()).toEqual(before);
    },
  );

  test('after its commit, the site is as it is after it: whole', async () => {
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
