import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { withoutRowLocks } from '../../../tests/support/lockless-database.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createCore } from '../core.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { addComments, type WrittenComment } from './add-comments.ts';
import { deleteExpiredKeys } from './idempotency-keys.ts';
import { listComments } from './list-comments.ts';
import { hideComments } from './moderate-comments.ts';
import { type PreparedComment, prepareComment } from './prepare-comment.ts';

const clock = createTestClock();
let database: TestDatabase;
let productId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  productId = `p-${randomUUID()}`;
  await saveProducts(database, [buildProduct({ id: productId })]);
});

function prepare(
  content: string,
  { key, session = 'session-a', held, of = productId }: PrepareOptions = {},
): PreparedComment {
  return prepareComment(clock, { productId: of, content }, { session, idempotencyKey: key }, held ? { held } : {});
}

interface PrepareOptions {
  key?: string;
  session?: string;
  held?: boolean;
  of?: string;
}

const add = async (...prepared: PreparedComment[]) => (await addComments(database, clock, prepared)).outcomes;

/** Formats each outcome as its error code, or as `new` or `old` with the content. */
const words = (outcomes: readonly (WrittenComment | CoreError)[]) =>
  outcomes.map((outcome) =>
    outcome instanceof CoreError ? outcome.code : `${outcome.created ? 'new' : 'old'} ${outcome.comment.content}`,
  );

async function stored(id = productId): Promise<{ contents: string[]; counted: number; total: number }> {
  const rows = await database.query<{ content: string }>(
    'SELECT content FROM comments WHERE product_id = $1 ORDER BY content',
    [id],
  );
  const [count] = await database.query<{ comments: number }>(
    'SELECT comments FROM product_counts WHERE product_id = $1',
    [id],
  );
  const { total } = await listComments(database, id, {}, new Date());
  return { contents: rows.map(({ content }) => content), counted: count?.comments ?? -1, total };
}

test('each comment is added, counted and listed exactly as returned', async () => {
  const prepared = [prepare('one'), prepare('two'), prepare('three', { session: 'session-b' })];
  const outcomes = await add(...prepared);
  expect(outcomes).toEqual(prepared.map(({ comment }) => ({ comment, created: true })));
  const { items, total } = await listComments(database, productId, {}, new Date());
  expect(total).toBe(3);
  expect(items).toHaveLength(3);
  expect(items).toEqual(expect.arrayContaining(prepared.map(({ comment }) => comment)));
});

test('a batch counts comments per product, and none for an unknown product', async () => {
  const other = `p-${randomUUID()}`;
  await saveProducts(database, [buildProduct({ id: other })]);
  const outcomes = await add(prepare('a'), prepare('b', { of: other }), prepare('c', { of: 'nothing' }), prepare('d'));
  expect(words(outcomes)).toEqual(['new a', 'new b', 'product_not_found', 'new d']);
  expect(outcomes[2]).toMatchObject({ message: 'Product not found' });
  expect(await stored()).toEqual({ contents: ['a', 'd'], counted: 2, total: 2 });
  expect(await stored(other)).toEqual({ contents: ['b'], counted: 1, total: 1 });
});

test('a product that is being removed accepts no comments until its block on writes expires', async () => {
  const close = (until: string) =>
    database.query(`UPDATE product_counts SET writes_blocked_until = ${until} WHERE product_id = $1`, [productId]);
  await close("now() + interval '1 hour'");
  expect(words(await add(prepare('too late')))).toEqual(['product_not_found']);
  await close("now() - interval '1 millisecond'");
  expect(words(await add(prepare('in time')))).toEqual(['new in time']);
});

test('a held comment is stored and not counted', async () => {
  expect(words(await add(prepare('seen'), prepare('held', { held: true })))).toEqual(['new seen', 'new held']);
  expect(await stored()).toEqual({ contents: ['held', 'seen'], counted: 1, total: 1 });
});

describe('idempotency keys', () => {
  test('an idempotency key identifies one comment, within a batch and across batches', async () => {
    const key = randomUUID();
    const [first, again] = [prepare('first', { key }), prepare('again', { key })];
    expect(words(await add(prepare('none'), first, again))).toEqual(['new none', 'new first', 'old first']);
    const [later] = await add(prepare('later', { key }));
    expect(later).toEqual({ comment: first.comment, created: false });
    expect(await stored()).toEqual({ contents: ['first', 'none'], counted: 2, total: 2 });
  });

  test('an idempotency key belongs to its session, and comments without a key are all written', async () => {
    const key = randomUUID();
    const outcomes = await add(
      prepare('a', { key }),
      prepare('b', { key, session: 'session-b' }),
      prepare('c'),
      prepare('c'),
    );
    expect(words(outcomes)).toEqual(['new a', 'new b', 'new c', 'new c']);
    expect(words(await add(prepare('x', { key, session: 'session-b' }), prepare('y')))).toEqual(['old b', 'new y']);
    expect((await stored()).counted).toBe(5);
  });

  test('after a comment on an unknown product failed, its idempotency key can be used again', async () => {
    const key = randomUUID();
    expect(words(await add(prepare('lost', { key, of: 'nothing' }), prepare('lost', { key, of: 'nothing' })))).toEqual([
      'product_not_found',
      'product_not_found',
    ]);
    expect(words(await add(prepare('kept', { key })))).toEqual(['new kept']);
  });

  test('if a batch uses an idempotency key for an unknown and a known product, the comment on the known one is created', async () => {
    const key = randomUUID();
    const batch = [prepare('lost', { key, of: 'nothing' }), prepare('kept', { key }), prepare('kept', { key })];
    expect(words(await add(...batch))).toEqual(['product_not_found', 'new kept', 'old kept']);
  });

  test('an idempotency key for two products creates one comment, even if both requests arrive together', async () => {
    const key = randomUUID();
    const other = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id: other })]);
    const { addComment } = createCore(database);
    const send = (id: string) =>
      addComment({ productId: id, content: 'x' }, { session: 'session-a', idempotencyKey: key });
    const [first, second] = await Promise.allSettled([send(productId), send(other)]);
    expect([first, second]).toMatchObject([
      { value: { created: true } },
      { reason: { code: 'idempotency_key_reused' } },
    ]);
    expect((await stored(other)).contents).toEqual([]);
  });

  test('an idempotency key whose comment has been hidden returns comment_not_found', async () => {
    const key = randomUUID();
    const first = prepare('hidden', { key });
    await add(first);
    await hideComments(database, [first.comment.id]);
    const outcomes = await add(prepare('again', { key }), prepare('beside'));
    expect(words(outcomes)).toEqual(['comment_not_found', 'new beside']);
    expect(outcomes[0]).toMatchObject({ message: 'Comment not found' });
  });

  test('an idempotency key is valid for exactly 24 hours, and can then create another comment', async () => {
    const key = randomUUID();
    await add(prepare('first', { key }));
    clock.advance({ hours: 24 });
    expect(words(await add(prepare('still', { key })))).toEqual(['old first']);
    await deleteExpiredKeys(database, clock.now());
    expect(words(await add(prepare('still', { key })))).toEqual(['old first']);
    clock.advance({ milliseconds: 1 });
    expect(words(await add(prepare('second', { key })))).toEqual(['new second']);
    expect(words(await add(prepare('third', { key })))).toEqual(['old second']);
    expect((await stored()).contents).toEqual(['first', 'second']);
  });

  test('an expired idempotency key can identify a comment on another product', async () => {
    const [key, other] = [randomUUID(), `p-${randomUUID()}`];
    await saveProducts(database, [buildProduct({ id: other })]);
    await add(prepare('here', { key }));
    clock.advance({ hours: 24, milliseconds: 1 });
    expect(words(await add(prepare('there', { key, of: other })))).toEqual(['new there']);
    expect(words(await add(prepare('again', { key, of: other })))).toEqual(['old there']);
  });

  test('an idempotency key is deleted after it has expired, and not before', async () => {
    await database.query('DELETE FROM comment_idempotency_keys');
    await add(prepare('old', { key: 'old' }));
    clock.advance({ hours: 24, milliseconds: 1 });
    await add(prepare('young', { key: 'young' }));
    await deleteExpiredKeys(database, clock.now());
    expect(await database.query('SELECT idempotency_key FROM comment_idempotency_keys')).toEqual([
      { idempotency_key: 'young' },
    ]);
  });

  test('the comment of an idempotency key is read only if the key was used before', async () => {
    const recorded = recordStatements(database);
    const written = () => recorded.statements.filter(({ text }) => !text.includes('pg_extension')).length;
    const key = randomUUID();
    await addComments(recorded.database, clock, [prepare('a', { key }), prepare('b')]);
    expect(written()).toBe(1);
    await addComments(recorded.database, clock, [prepare('c', { key }), prepare('d', { key: randomUUID() })]);
    expect(written()).toBe(3);
    expect(recorded.statements.at(-1)?.values).toEqual([['session-a'], [key]]);
  });
});

// On Citus, rows are locked in no particular order; deadlocks are detected and transactions retried (decision 18).
if (!isCitus) {
  test('a writer that waits for the lock on a product has not yet claimed its idempotency key', async () => {
    const key = randomUUID();
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
      waiting = add(prepare('later', { key }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // Another process uses the same key. If the waiting writer had already claimed it, the two would deadlock.
      expect(words((await addComments(sql, clock, [prepare('sooner', { key })])).outcomes)).toEqual(['new sooner']);
    });
    expect(words((await waiting) ?? [])).toEqual(['old sooner']);
    expect(await stored()).toEqual({ contents: ['sooner'], counted: 1, total: 1 });
  });

  test('products are locked in the order of their ids, so two writers of the same products never deadlock', async () => {
    // The product with the greater id comes first in physical order.
    for (const id of ['quay-2', 'quay-1']) await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("SELECT FROM product_counts WHERE product_id = 'quay-1' FOR UPDATE");
      waiting = add(prepare('two', { of: 'quay-2' }), prepare('one', { of: 'quay-1' }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query("UPDATE product_counts SET upvotes = upvotes + 1 WHERE product_id = 'quay-2'");
    });
    expect(words((await waiting) ?? [])).toEqual(['new two', 'new one']);
  });

  test('keys are claimed in order, so two writers that claim the same keys never deadlock', async () => {
    const pier = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id: pier })]);
    const [first, second] = [`0${randomUUID()}`, `1${randomUUID()}`];
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await addComments(sql, clock, [prepare('mine', { key: first, of: pier })]);
      waiting = add(prepare('two', { key: second }), prepare('one', { key: first }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // If the waiting writer had already claimed the second key, the two would deadlock.
      expect(words((await addComments(sql, clock, [prepare('mine too', { key: second, of: pier })])).outcomes)).toEqual(
        ['new mine too'],
      );
    });
    expect(words((await waiting) ?? [])).toEqual(['old mine too', 'old mine']);
  });
}

describe('removing a product while comments on it are added, in a database without row locks', () => {
  async function commentWhileRemoved(...contents: string[]): Promise<PromiseSettledResult<unknown> | undefined> {
    let writing: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('DELETE FROM products WHERE id = $1', [productId]);
      const prepared = contents.map((content) => prepare(content));
      writing = Promise.allSettled([addComments(withoutRowLocks(database), clock, prepared)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    return (await writing)?.[0];
  }

  test('a single comment on a product that is removed at the same time gets product_not_found', async () => {
    expect(await commentWhileRemoved('lost')).toEqual({
      status: 'fulfilled',
      value: {
        outcomes: [expect.objectContaining({ code: 'product_not_found' })],
        productIds: [],
        commentIds: [],
      },
    });
  });

  test('a batch of several comments is rolled back if its product is removed at the same time', async () => {
    expect(await commentWhileRemoved('lost', 'lost as well')).toMatchObject({
      status: 'rejected',
      reason: { code: '23503' },
    });
  });
});

test('an unavailable database is not reported as an unknown product', async () => {
  const broken = { query: () => Promise.reject(new CoreError('unavailable', 'away')) };
  await expect(addComments(broken, clock, [prepare('x')])).rejects.toMatchObject({ code: 'unavailable' });
});
