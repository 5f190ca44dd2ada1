import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { withoutRowLocks } from '../../../tests/support/lockless-database.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { addComments, type WrittenComment } from './add-comments.ts';
import { type Draft, draftComment } from './draft.ts';
import { hideComments } from './hide-comments.ts';
import { forgetOldKeys } from './idempotency-keys.ts';
import { listComments } from './list-comments.ts';

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

function draft(content: string, { key, session = 'session-a', held, of = productId }: DraftOptions = {}): Draft {
  return draftComment(clock, { productId: of, content }, { session, idempotencyKey: key }, held ? { held } : {});
}

interface DraftOptions {
  key?: string;
  session?: string;
  held?: boolean;
  of?: string;
}

const add = (...drafts: Draft[]) => addComments(database, clock, drafts);

/** What came of each draft, in few words. */
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
  const { total } = await listComments(database, id, {});
  return { contents: rows.map(({ content }) => content), counted: count?.comments ?? -1, total };
}

test('each draft makes its comment, which is listed just as it was answered, and counted', async () => {
  const drafts = [draft('one'), draft('two'), draft('three', { session: 'session-b' })];
  const outcomes = await add(...drafts);
  expect(outcomes).toEqual(drafts.map(({ comment }) => ({ comment, created: true })));
  const { items, total } = await listComments(database, productId, {});
  expect(total).toBe(3);
  expect(items).toHaveLength(3);
  expect(items).toEqual(expect.arrayContaining(drafts.map(({ comment }) => comment)));
});

test('drafts of several products in one batch are counted each where they belong; of an unknown one, not at all', async () => {
  const other = `p-${randomUUID()}`;
  await saveProducts(database, [buildProduct({ id: other })]);
  const outcomes = await add(draft('a'), draft('b', { of: other }), draft('c', { of: 'nothing' }), draft('d'));
  expect(words(outcomes)).toEqual(['new a', 'new b', 'product_not_found', 'new d']);
  expect(outcomes[2]).toMatchObject({ message: 'Product not found' });
  expect(await stored()).toEqual({ contents: ['a', 'd'], counted: 2, total: 2 });
  expect(await stored(other)).toEqual({ contents: ['b'], counted: 1, total: 1 });
});

test('a product that is being removed takes no comment, and does again when it stays', async () => {
  const close = (until: string) =>
    database.query(`UPDATE product_counts SET closed_until = ${until} WHERE product_id = $1`, [productId]);
  await close("now() + interval '1 hour'");
  expect(words(await add(draft('too late')))).toEqual(['product_not_found']);
  await close("now() - interval '1 millisecond'");
  expect(words(await add(draft('in time')))).toEqual(['new in time']);
});

test('a held comment is kept and not counted', async () => {
  expect(words(await add(draft('seen'), draft('held', { held: true })))).toEqual(['new seen', 'new held']);
  expect(await stored()).toEqual({ contents: ['held', 'seen'], counted: 1, total: 1 });
});

describe('A key of a draft', () => {
  test('stands for one comment, in one batch and in later ones', async () => {
    const key = randomUUID();
    const [first, again] = [draft('first', { key }), draft('again', { key })];
    expect(words(await add(draft('none'), first, again))).toEqual(['new none', 'new first', 'old first']);
    const [later] = await add(draft('later', { key }));
    expect(later).toEqual({ comment: first.comment, created: false });
    expect(await stored()).toEqual({ contents: ['first', 'none'], counted: 2, total: 2 });
  });

  test('belongs to its session, and drafts without one are all written', async () => {
    const key = randomUUID();
    const outcomes = await add(draft('a', { key }), draft('b', { key, session: 'session-b' }), draft('c'), draft('c'));
    expect(words(outcomes)).toEqual(['new a', 'new b', 'new c', 'new c']);
    expect(words(await add(draft('x', { key, session: 'session-b' }), draft('y')))).toEqual(['old b', 'new y']);
    expect((await stored()).counted).toBe(5);
  });

  test('on an unknown product stands for nothing, so that it may be used again', async () => {
    const key = randomUUID();
    expect(words(await add(draft('lost', { key, of: 'nothing' }), draft('lost', { key, of: 'nothing' })))).toEqual([
      'product_not_found',
      'product_not_found',
    ]);
    expect(words(await add(draft('kept', { key })))).toEqual(['new kept']);
  });

  test('of a comment that was hidden since answers that there is none', async () => {
    const key = randomUUID();
    const first = draft('hidden', { key });
    await add(first);
    await hideComments(database, [first.comment.id]);
    const outcomes = await add(draft('again', { key }), draft('beside'));
    expect(words(outcomes)).toEqual(['comment_not_found', 'new beside']);
    expect(outcomes[0]).toMatchObject({ message: 'Comment not found' });
  });

  test('holds for 24 hours, to the millisecond, and then makes a comment again', async () => {
    const key = randomUUID();
    await add(draft('first', { key }));
    clock.advance({ hours: 24 });
    expect(words(await add(draft('still', { key })))).toEqual(['old first']);
    await forgetOldKeys(database, clock.now());
    expect(words(await add(draft('still', { key })))).toEqual(['old first']);
    clock.advance({ milliseconds: 1 });
    expect(words(await add(draft('second', { key })))).toEqual(['new second']);
    expect(words(await add(draft('third', { key })))).toEqual(['old second']);
    expect((await stored()).contents).toEqual(['first', 'second']);
  });

  test('may stand for a comment on another product when its time is over', async () => {
    const [key, other] = [randomUUID(), `p-${randomUUID()}`];
    await saveProducts(database, [buildProduct({ id: other })]);
    await add(draft('here', { key }));
    clock.advance({ hours: 24, milliseconds: 1 });
    expect(words(await add(draft('there', { key, of: other })))).toEqual(['new there']);
    expect(words(await add(draft('again', { key, of: other })))).toEqual(['old there']);
  });

  test('is forgotten when its time is over, and only then', async () => {
    await database.query('DELETE FROM comment_keys');
    await add(draft('old', { key: 'old' }));
    clock.advance({ hours: 24, milliseconds: 1 });
    await add(draft('young', { key: 'young' }));
    await forgetOldKeys(database, clock.now());
    expect(await database.query('SELECT idempotency_key FROM comment_keys')).toEqual([{ idempotency_key: 'young' }]);
  });

  test('is asked for only where there was one before', async () => {
    const recorded = recordStatements(database);
    const written = () => recorded.statements.filter(({ text }) => !text.includes('pg_extension')).length;
    const key = randomUUID();
    await addComments(recorded.database, clock, [draft('a', { key }), draft('b')]);
    expect(written()).toBe(1);
    await addComments(recorded.database, clock, [draft('c', { key }), draft('d', { key: randomUUID() })]);
    expect(written()).toBe(3);
    expect(recorded.statements.at(-1)?.values).toEqual([['session-a'], [key]]);
  });
});

// Citus locks rows in no order; what meets crosswise there is found out and tried again (docs/scaling.md).
if (inject('citusWorkers').length === 0) {
  test('who waits for a product holds no key yet that another could wait for', async () => {
    const key = randomUUID();
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
      waiting = add(draft('later', { key }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // The same key, by another process: had the other claimed it already, the two would now stand crosswise.
      expect(words(await addComments(sql, clock, [draft('sooner', { key })]))).toEqual(['new sooner']);
    });
    expect(words((await waiting) ?? [])).toEqual(['old sooner']);
    expect(await stored()).toEqual({ contents: ['sooner'], counted: 1, total: 1 });
  });

  test('products are waited for in the order of their ids, so that two who write the same ones never stand crosswise', async () => {
    // As they lie in the table, the other comes first.
    for (const id of ['quay-2', 'quay-1']) await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("SELECT FROM product_counts WHERE product_id = 'quay-1' FOR UPDATE");
      waiting = add(draft('two', { of: 'quay-2' }), draft('one', { of: 'quay-1' }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query("UPDATE product_counts SET upvotes = upvotes + 1 WHERE product_id = 'quay-2'");
    });
    expect(words((await waiting) ?? [])).toEqual(['new two', 'new one']);
  });

  test('keys are claimed in their order, so that two who claim the same ones never stand crosswise', async () => {
    const pier = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id: pier })]);
    const [first, second] = [`0${randomUUID()}`, `1${randomUUID()}`];
    let waiting: ReturnType<typeof add> | undefined;
    await database.transaction(async (sql) => {
      await addComments(sql, clock, [draft('mine', { key: first, of: pier })]);
      waiting = add(draft('two', { key: second }), draft('one', { key: first }));
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // Had the others claimed the second key before the first, the two would now stand crosswise.
      expect(words(await addComments(sql, clock, [draft('mine too', { key: second, of: pier })]))).toEqual([
        'new mine too',
      ]);
    });
    expect(words((await waiting) ?? [])).toEqual(['old mine too', 'old mine']);
  });
}

describe('Where rows are not locked first, a product that is removed while it is commented on', () => {
  async function commentWhileRemoved(...contents: string[]): Promise<PromiseSettledResult<unknown> | undefined> {
    let writing: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('DELETE FROM products WHERE id = $1', [productId]);
      const drafts = contents.map((content) => draft(content));
      writing = Promise.allSettled([addComments(withoutRowLocks(database), clock, drafts)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    return (await writing)?.[0];
  }

  test('is unknown to the one who did', async () => {
    expect(await commentWhileRemoved('lost')).toEqual({
      status: 'fulfilled',
      value: [expect.objectContaining({ code: 'product_not_found' })],
    });
  });

  test('undoes the whole batch, so that each of it is tried by itself', async () => {
    expect(await commentWhileRemoved('lost', 'lost as well')).toMatchObject({
      status: 'rejected',
      reason: { code: '23503' },
    });
  });
});

test('another failure of the database is no matter of the product', async () => {
  const broken = { query: () => Promise.reject(new CoreError('unavailable', 'away')) };
  await expect(addComments(broken, clock, [draft('x')])).rejects.toMatchObject({ code: 'unavailable' });
});
