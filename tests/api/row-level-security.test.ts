import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PRODUCT_FIELDS } from '../../src/contract/products/fields.ts';
import { EXCLUDED_TABLES, SITE_TABLES } from '../../src/core/backups/site-tables.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { isCitus } from '../support/is-citus.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const FILE = join(import.meta.dirname, '../../deploy/row-level-security.sql');

/**
 * Replaces `anon`, because the tests' role cannot create roles on the embedded server, but can `SET ROLE` to this one,
 * which has no privileges on the site's tables by default.
 */
const ROLE = 'pg_monitor';

let database: TestDatabase;

const readStatements = async () => (await readFile(FILE, 'utf8')).replaceAll(/\banon\b/g, ROLE);

beforeAll(async () => {
  database = await createTestDatabase();
  if (isCitus) return;
  const statements = await readStatements();
  await database.query(statements);
  // Applies the file twice, as after an upgrade, and simulates a host that grants everything to all roles.
  await database.query(statements);
  await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${ROLE}`);
});

afterAll(() => database.drop());

/** Runs one statement as PostgREST does for an anonymous request: in the role's name and with the request's headers. */
function ask<Row extends object>(
  session: string | undefined,
  statement: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return database.transaction(async (sql) => {
    const headers = session === undefined ? {} : { 'x-user-session': session };
    await sql.query("SELECT set_config('request.headers', $1, true)", [JSON.stringify(headers)]);
    await sql.query(`SET LOCAL ROLE ${ROLE}`);
    return sql.query<Row>(statement, values);
  });
}

async function newProduct(): Promise<string> {
  const product = buildProduct();
  await saveProducts(database, [product]);
  return product.id;
}

const newSession = () => `session-${randomUUID()}`;

const UPVOTE = 'INSERT INTO rest.upvotes (product_id, user_session) VALUES ($1, $2) RETURNING id';
const COUNT = 'SELECT count(*)::integer AS count FROM rest.upvotes WHERE product_id = $1';
const STATUS = 'SELECT id FROM rest.upvotes WHERE product_id = $1 AND user_session = $2 LIMIT 1';
const COMMENT = `INSERT INTO rest.comments (product_id, author_name, author_avatar, content, likes)
  VALUES ($1, 'You', '/pictures/avatar-default.svg', $2, 0) RETURNING id`;

async function newComment(productId: string): Promise<string> {
  const [row] = await ask<{ id: string }>(undefined, COMMENT, [productId, 'Well made']);
  return row?.id ?? '';
}

async function countsAreRight(): Promise<void> {
  expect((await checkCounts(database, { after: '', limit: 1_000 })).wrong).toEqual([]);
}

if (isCitus) {
  test('row-level-security.sql is refused on Citus, which would query its workers with the anonymous role', async () => {
    await expect(database.query(await readStatements())).rejects.toThrow('Citus is not supported');
    expect(await database.query("SELECT 1 FROM pg_namespace WHERE nspname = 'rest'")).toEqual([]);
  });
} else {
  theNineCalls();
  nothingMore();
}

function theNineCalls() {
  describe('the nine calls (SPEC section 7)', () => {
    test('products can be read, newest first, with all their columns', async () => {
      const id = await newProduct();
      const rows = await ask<{ id: string }>(undefined, 'SELECT * FROM rest.products ORDER BY created_at DESC');
      expect(rows.map((row) => row.id)).toContain(id);
      expect(Object.keys(rows[0] ?? {})).toEqual(Object.values(PRODUCT_FIELDS).map(({ column }) => column));
    });

    test('a visitor can upvote once, find the upvote and delete it by its id, and the counts stay correct', async () => {
      const [productId, session] = [await newProduct(), newSession()];
      await ask(session, UPVOTE, [productId, session]);
      await ask(session, UPVOTE, [productId, session]);
      expect(await ask(newSession(), COUNT, [productId])).toEqual([{ count: 1 }]);
      await countsAreRight();
      const [own] = await ask<{ id: string }>(session, STATUS, [productId, session]);
      expect(own?.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await ask(session, 'DELETE FROM rest.upvotes WHERE id = $1 RETURNING product_id', [own?.id])).toHaveLength(
        1,
      );
      expect(await ask(session, COUNT, [productId])).toEqual([{ count: 0 }]);
      await countsAreRight();
    });

    test('a comment can be added, counted and read, and the site is notified', async () => {
      const productId = await newProduct();
      const id = await newComment(productId);
      const rows = await ask(undefined, 'SELECT * FROM rest.comments WHERE product_id = $1 ORDER BY created_at DESC', [
        productId,
      ]);
      expect(rows).toMatchObject([{ id, author_name: 'You', author_badge: null, content: 'Well made', likes: 0 }]);
      const count = 'SELECT count(*)::integer AS count FROM rest.comments WHERE product_id = $1';
      expect(await ask(undefined, count, [productId])).toEqual([{ count: 1 }]);
      expect(await database.query('SELECT 1 FROM changes WHERE $1::uuid = ANY(comment_ids)', [id])).toHaveLength(1);
      await countsAreRight();
    });

    test('likes can be read and incremented, and concurrent likes are not lost', async () => {
      const id = await newComment(await newProduct());
      expect(await ask(undefined, 'SELECT likes FROM rest.comments WHERE id = $1', [id])).toEqual([{ likes: 0 }]);
      const like = () => ask(undefined, 'UPDATE rest.comments SET likes = 1 WHERE id = $1', [id]);
      await Promise.all([like(), like(), like()]);
      expect(await ask(undefined, 'SELECT likes FROM rest.comments WHERE id = $1', [id])).toEqual([{ likes: 3 }]);
    });
  });
}

function nothingMore() {
  describe('everything else is forbidden', () => {
    test.each([...SITE_TABLES, ...EXCLUDED_TABLES])('no row of the table %s can be read or deleted', async (table) => {
      await newComment(await newProduct());
      // For a table without rows, an empty result proves nothing.
      const [state] = await database.query('SELECT relrowsecurity FROM pg_class WHERE oid = $1::regclass', [table]);
      expect(state).toEqual({ relrowsecurity: true });
      expect(await ask(undefined, `SELECT * FROM ${table}`)).toEqual([]);
      expect(await ask(undefined, `DELETE FROM ${table} RETURNING 1`)).toEqual([]);
    });

    test('the sessions of other visitors cannot be read', async () => {
      const [productId, session] = [await newProduct(), newSession()];
      await ask(session, UPVOTE, [productId, session]);
      for (const asking of [undefined, newSession(), '%']) {
        expect(
          await ask(asking, 'SELECT id, user_session FROM rest.upvotes WHERE product_id = $1', [productId]),
        ).toEqual([{ id: null, user_session: null }]);
        expect(await ask(asking, STATUS, [productId, session])).toEqual([]);
        expect(await ask(asking, "SELECT 1 FROM rest.upvotes WHERE user_session LIKE 'session-%'")).toEqual([]);
      }
    });

    test('the upvotes of other visitors can be neither deleted nor created', async () => {
      const [productId, session, stranger] = [await newProduct(), newSession(), newSession()];
      await ask(session, UPVOTE, [productId, session]);
      const [own] = await ask<{ id: string }>(session, STATUS, [productId, session]);
      expect(await ask(stranger, 'DELETE FROM rest.upvotes WHERE id = $1 RETURNING 1', [own?.id])).toEqual([]);
      expect(await ask(stranger, 'DELETE FROM rest.upvotes WHERE product_id = $1 RETURNING 1', [productId])).toEqual(
        [],
      );
      await expect(ask(stranger, UPVOTE, [productId, newSession()])).rejects.toThrow('to the visitor of the request');
      await expect(ask(undefined, UPVOTE, [productId, null])).rejects.toThrow('to the visitor of the request');
      expect(await ask(session, COUNT, [productId])).toEqual([{ count: 1 }]);
      await countsAreRight();
    });

    test.each(["held_session = 'session-somebody'", 'hidden_at = now()'])(
      'a held or hidden comment (%s) can be neither read nor liked',
      async (state) => {
        const productId = await newProduct();
        const id = await newComment(productId);
        await database.query(`UPDATE comments SET ${state} WHERE id = $1`, [id]);
        expect(await ask(undefined, 'SELECT 1 FROM rest.comments WHERE id = $1', [id])).toEqual([]);
        expect(await ask(undefined, 'UPDATE rest.comments SET likes = 1 WHERE id = $1 RETURNING 1', [id])).toEqual([]);
        await database.query('UPDATE comments SET held_session = NULL, hidden_at = NULL WHERE id = $1', [id]);
      },
    );

    test.each([
      ['INSERT INTO rest.products (id) VALUES ($1)', 'permission denied'],
      ['UPDATE rest.products SET name = $1', 'permission denied'],
      ['DELETE FROM rest.products WHERE id = $1', 'permission denied'],
      ['UPDATE rest.upvotes SET product_id = $1', 'permission denied'],
      ['UPDATE rest.comments SET content = $1', 'permission denied'],
      ['DELETE FROM rest.comments WHERE product_id = $1', 'permission denied'],
      [
        "INSERT INTO rest.comments (product_id, content, author_badge) VALUES ($1, 'Hello', 'Maker')",
        'permission denied',
      ],
      ['SELECT rest.note_change($1, ARRAY[]::uuid[])', 'permission denied'],
      ['SELECT rest.lock_product($1)', 'permission denied'],
      ["INSERT INTO rest.comments (product_id, content) VALUES ($1, ' ')", 'Product ID and content are required'],
      ["INSERT INTO rest.comments (product_id, content) VALUES ($1, repeat('a', 2001))", 'at most 2,000 characters'],
      ["INSERT INTO rest.comments (product_id, content) VALUES ($1 || '-unknown', 'Hello')", 'Product not found'],
      ['UPDATE rest.comments SET likes = 1000 WHERE product_id = $1', 'A like must add exactly one'],
      ['UPDATE rest.comments SET likes = 0 WHERE product_id = $1', 'A like must add exactly one'],
    ])('the statement is refused: %s', async (statement, message) => {
      const productId = await newProduct();
      await newComment(productId);
      await expect(ask(newSession(), statement, [productId])).rejects.toThrow(message);
      await countsAreRight();
    });

    test('a request can withdraw only one upvote, and does not wait for locks on other products', async () => {
      const [first, second, others] = [await newProduct(), await newProduct(), await newProduct()];
      const [session, stranger] = [newSession(), newSession()];
      await ask(stranger, UPVOTE, [others, stranger]);
      await ask(session, UPVOTE, [first, session]);
      await database.transaction(async (sql) => {
        await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [others]);
        expect(await ask(session, 'DELETE FROM rest.upvotes RETURNING product_id')).toEqual([{ product_id: first }]);
      });
      for (const productId of [first, second]) await ask(session, UPVOTE, [productId, session]);
      await expect(ask(session, 'DELETE FROM rest.upvotes')).rejects.toThrow('A request may write only one row');
      for (const productId of [first, second]) expect(await ask(session, COUNT, [productId])).toEqual([{ count: 1 }]);
      await countsAreRight();
    });

    test('a request can like only one comment', async () => {
      const productId = await newProduct();
      const ids = [await newComment(productId), await newComment(productId)];
      const likes = 'SELECT sum(likes)::integer AS likes FROM rest.comments WHERE product_id = $1';
      await expect(ask(undefined, 'UPDATE rest.comments SET likes = 1')).rejects.toThrow(
        'A request may write only one row',
      );
      await expect(ask(undefined, 'UPDATE rest.comments SET likes = 1 WHERE id = ANY($1)', [ids])).rejects.toThrow();
      expect(await ask(undefined, likes, [productId])).toEqual([{ likes: 0 }]);
    });

    test('a product that has not launched does not exist, and accepts no upvotes or comments', async () => {
      const productId = await newProduct();
      await newComment(productId);
      await database.query("UPDATE products SET created_at = now() + interval '1 day' WHERE id = $1", [productId]);
      expect(await ask(undefined, 'SELECT FROM rest.products WHERE id = $1', [productId])).toEqual([]);
      expect(await ask(undefined, 'SELECT FROM rest.comments WHERE product_id = $1', [productId])).toEqual([]);
      const session = newSession();
      await expect(ask(session, UPVOTE, [productId, session])).rejects.toThrow('Product not found');
      await expect(newComment(productId)).rejects.toThrow('Product not found');
    });

    test('an upvote within the launch window counts on leaderboards, until it is withdrawn or the result is final', async () => {
      const [productId, session] = [await newProduct(), newSession()];
      await database.query('UPDATE launches SET launched_at = now() WHERE product_id = $1', [productId]);
      const counted = () =>
        database.query('SELECT upvotes, counted FROM product_counts WHERE product_id = $1', [productId]);
      await ask(session, UPVOTE, [productId, session]);
      expect(await counted()).toEqual([{ upvotes: 1, counted: 1 }]);
      await ask(session, 'DELETE FROM rest.upvotes WHERE product_id = $1', [productId]);
      expect(await counted()).toEqual([{ upvotes: 0, counted: 0 }]);
      await ask(session, UPVOTE, [productId, session]);
      // Simulates the moment after a postponement is undone, before the launch is recounted.
      await database.query('UPDATE product_counts SET counted = 0 WHERE product_id = $1', [productId]);
      await ask(session, 'DELETE FROM rest.upvotes WHERE product_id = $1', [productId]);
      expect(await counted()).toEqual([{ upvotes: 0, counted: 0 }]);
      // Simulates a clock that was set back into the window after the result had become final.
      await database.query('UPDATE launches SET final = true WHERE product_id = $1', [productId]);
      await ask(session, UPVOTE, [productId, session]);
      expect(await counted()).toEqual([{ upvotes: 1, counted: 0 }]);
      await database.query('UPDATE product_counts SET counted = 1 WHERE product_id = $1', [productId]);
      await ask(session, 'DELETE FROM rest.upvotes WHERE product_id = $1', [productId]);
      expect(await counted()).toEqual([{ upvotes: 0, counted: 1 }]);
    });

    test.each([
      ['operator', { counted: 0, excluded: 1 }],
      ['included', { counted: 1, excluded: 0 }],
    ])(
      'the operator’s decision ‘%s’ about a withdrawn upvote applies when it is cast again',
      async (verdict, expected) => {
        const [productId, session] = [await newProduct(), newSession()];
        await database.query('UPDATE launches SET launched_at = now() WHERE product_id = $1', [productId]);
        await database.query('INSERT INTO vote_decisions VALUES ($1, $2, $3)', [productId, session, verdict]);
        const counts = () =>
          database.query('SELECT counted, excluded_operator AS excluded FROM product_counts WHERE product_id = $1', [
            productId,
          ]);
        await ask(session, UPVOTE, [productId, session]);
        expect(await counts()).toEqual([expected]);
        await ask(session, 'DELETE FROM rest.upvotes WHERE product_id = $1', [productId]);
        expect(await counts()).toEqual([{ counted: 0, excluded: 0 }]);
      },
    );

    test('a comment cannot set its author or its likes', async () => {
      const productId = await newProduct();
      const statement = `INSERT INTO rest.comments (product_id, author_name, author_avatar, content, likes)
      VALUES ($1, 'The maker', 'https://elsewhere.example/a.png', $2, 1000)`;
      await ask(undefined, statement, [productId, randomUUID()]);
      const rows = await ask(
        undefined,
        'SELECT author_name, author_avatar, likes FROM rest.comments WHERE product_id = $1',
        [productId],
      );
      expect(rows).toEqual([{ author_name: 'You', author_avatar: '/pictures/avatar-default.svg', likes: 0 }]);
    });
  });
}
