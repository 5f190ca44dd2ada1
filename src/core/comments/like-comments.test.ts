import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { planOf } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { addComments } from './add-comments.ts';
import { likeComments } from './like-comments.ts';
import { hideComments } from './moderate-comments.ts';
import { prepareComment } from './prepare-comment.ts';

const AUTHOR = 'session-author';
const READER = 'session-reader';
let database: TestDatabase;
let one: string;
let two: string;
let held: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
});
afterAll(() => database.drop());

beforeEach(async () => {
  const prepare = (content: string, isHeld = false) =>
    prepareComment(systemRuntime, { productId: 'tide', content }, { session: AUTHOR }, { held: isHeld });
  const prepared = [prepare('one'), prepare('two'), prepare('held', true)];
  await addComments(database, systemRuntime, prepared);
  [one = '', two = '', held = ''] = prepared.map(({ comment }) => comment.id);
});

/** Adds likes. @returns for each like the count, or the error code. */
async function like(...likes: [commentId: string, session?: string][]): Promise<unknown[]> {
  const { outcomes } = await likeComments(
    database,
    likes.map(([commentId, session = READER]) => ({ commentId, session })),
    new Date(),
  );
  return outcomes.map((outcome) => (outcome instanceof CoreError ? outcome.code : outcome.likes));
}

async function storedLikes(...ids: string[]): Promise<(number | undefined)[]> {
  const rows = await database.query<{ id: string; likes: number }>(
    'SELECT id, likes FROM comments WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return ids.map((id) => rows.find((row) => row.id === id)?.likes);
}

test('each like of a batch returns a count that includes it, in the order of arrival', async () => {
  expect(await like([one], [two], [one], [one, AUTHOR])).toEqual([1, 1, 2, 3]);
  expect(await like([two], [one])).toEqual([2, 4]);
  expect(await storedLikes(one, two)).toEqual([4, 2]);
});

test('a batch of likes returns the ids of the changed comments and products, each once', async () => {
  const likes = [one.toUpperCase(), one, two, held, 'no uuid'].map((commentId) => ({ commentId, session: READER }));
  const { productIds, commentIds } = await likeComments(database, likes, new Date());
  expect(productIds).toEqual(['tide']);
  expect(commentIds.toSorted()).toEqual([one, two].toSorted());
});

test('comment ids match in upper case, and missing and unknown ids are reported as errors', async () => {
  expect(await like([one.toUpperCase()], [one], [''], ['  '], ['no uuid'], [randomUUID()])).toEqual([
    1,
    2,
    'comment_id_required',
    'comment_id_required',
    'comment_not_found',
    'comment_not_found',
  ]);
  const { outcomes } = await likeComments(
    database,
    [
      { commentId: '', session: READER },
      { commentId: 'x', session: READER },
    ],
    new Date(),
  );
  expect(outcomes).toEqual([
    expect.objectContaining({ message: 'Comment ID is required' }),
    expect.objectContaining({ message: 'Comment not found' }),
  ]);
});

test('the database is not queried for invalid ids', async () => {
  const recorded = recordStatements(database);
  await likeComments(recorded.database, [{ commentId: 'no uuid', session: READER }], new Date());
  expect(recorded.statements).toEqual([]);
});

test('only its author can like a held comment, even in a batch', async () => {
  expect(await like([held], [held, AUTHOR], [held], [one], [held, AUTHOR], [held])).toEqual([
    'comment_not_found',
    1,
    'comment_not_found',
    1,
    2,
    'comment_not_found',
  ]);
  expect(await like([held])).toEqual(['comment_not_found']);
  expect(await like([held, AUTHOR])).toEqual([3]);
  expect(await storedLikes(held, one)).toEqual([3, 1]);
});

test('a hidden comment cannot be liked', async () => {
  await hideComments(database, [one, held]);
  expect(await like([one], [one, AUTHOR], [held, AUTHOR], [two])).toEqual([
    'comment_not_found',
    'comment_not_found',
    'comment_not_found',
    1,
  ]);
  expect(await storedLikes(one, held)).toEqual([0, 0]);
});

test('comments on a product that is being removed cannot be liked', async () => {
  const close = (until: string) => database.query(`UPDATE product_counts SET writes_blocked_until = ${until}`);
  await close("now() + interval '1 hour'");
  expect(await like([one])).toEqual(['comment_not_found']);
  await close('NULL');
  expect(await like([one])).toEqual([1]);
});

// On Citus, rows are locked in no particular order; deadlocks are detected and transactions retried (decision 18).
if (!isCitus) {
  test('comments are locked in the order of their ids, so two writers that like the same comments never deadlock', async () => {
    const [first, second] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`] as const;
    // The comment with the greater id comes first in physical order.
    await database.query(
      "INSERT INTO comments (id, product_id, content) VALUES ($1::uuid, 'tide', 'x'), ($2::uuid, 'tide', 'x')",
      [second, first],
    );
    let waiting: Promise<unknown[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM comments WHERE id = $1 FOR UPDATE', [first]);
      waiting = like([second], [first]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // If the waiting writer had already locked the second comment, the two would deadlock.
      await sql.query('UPDATE comments SET likes = likes + 1 WHERE id = $1', [second]);
    });
    expect(await waiting).toEqual([2, 1]);
  });

  test('likes of many comments use the index even if the table has no statistics yet', async () => {
    const growing = await createTestDatabase();
    const client = new pg.Client({ connectionString: growing.url });
    await client.connect();
    try {
      await growing.query('ALTER TABLE comments SET (autovacuum_enabled = false)');
      await saveProducts(growing, [buildProduct({ id: 'tide' })]);
      await growing.query(`INSERT INTO comments (id, product_id, content)
        SELECT gen_random_uuid(), 'tide', repeat('wave ', 20) FROM generate_series(1, 20000)`);
      const asked = await growing.query<{ id: string }>('SELECT id FROM comments LIMIT 200');
      const recorded = recordStatements(growing);
      const { outcomes } = await likeComments(
        recorded.database,
        asked.map(({ id }) => ({ commentId: id, session: READER })),
        new Date(),
      );
      expect(outcomes).toEqual(asked.map(() => ({ likes: 1 })));
      const statement = recorded.statements.find(({ text }) => text.includes('UPDATE comments'));
      if (!statement) throw new Error('No comment was updated.');
      const nodes = await planOf(client, statement, 'custom');
      const scans = nodes.filter((node) => node['Relation Name'] === 'comments').map((node) => node['Node Type']);
      expect(scans.length).toBeGreaterThan(0);
      expect(scans).not.toContain('Seq Scan');
    } finally {
      await client.end();
      await growing.drop();
    }
  });
}
