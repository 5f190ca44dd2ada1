import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemSources } from '../sources.ts';
import { addComments } from './add-comments.ts';
import { draftComment } from './draft.ts';
import { hideComments } from './hide-comments.ts';
import { likeComments } from './like-comments.ts';

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
  const draft = (content: string, isHeld = false) =>
    draftComment(systemSources, { productId: 'tide', content }, { session: AUTHOR }, { held: isHeld });
  const drafts = [draft('one'), draft('two'), draft('held', true)];
  await addComments(database, systemSources, drafts);
  [one = '', two = '', held = ''] = drafts.map(({ comment }) => comment.id);
});

/** The count that each like is answered with, or why there is none. */
async function like(...likes: [commentId: string, session?: string][]): Promise<unknown[]> {
  const outcomes = await likeComments(
    database,
    likes.map(([commentId, session = READER]) => ({ commentId, session })),
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

test('each like of a batch is one more, answered in the order in which they came', async () => {
  expect(await like([one], [two], [one], [one, AUTHOR])).toEqual([1, 1, 2, 3]);
  expect(await like([two], [one])).toEqual([2, 4]);
  expect(await storedLikes(one, two)).toEqual([4, 2]);
  expect(await likeComments(database, [{ commentId: one, session: READER }])).toEqual([
    { likes: 5, productId: 'tide' },
  ]);
});

test('an id is the same in capitals; without one, or of no comment, it says so', async () => {
  expect(await like([one.toUpperCase()], [one], [''], ['  '], ['no uuid'], [randomUUID()])).toEqual([
    1,
    2,
    'comment_id_required',
    'comment_id_required',
    'comment_not_found',
    'comment_not_found',
  ]);
  const outcomes = await likeComments(database, [
    { commentId: '', session: READER },
    { commentId: 'x', session: READER },
  ]);
  expect(outcomes).toEqual([
    expect.objectContaining({ message: 'Comment ID is required' }),
    expect.objectContaining({ message: 'Comment not found' }),
  ]);
});

test('where no id can be of a comment, the database is not asked', async () => {
  const recorded = recordStatements(database);
  await likeComments(recorded.database, [{ commentId: 'no uuid', session: READER }]);
  expect(recorded.statements).toEqual([]);
});

test('a held comment is there for its author alone, also among the likes of others', async () => {
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

test('a hidden comment is there for nobody', async () => {
  await hideComments(database, [one, held]);
  expect(await like([one], [one, AUTHOR], [held, AUTHOR], [two])).toEqual([
    'comment_not_found',
    'comment_not_found',
    'comment_not_found',
    1,
  ]);
  expect(await storedLikes(one, held)).toEqual([0, 0]);
});

test('of a product that is being removed, no comment is there', async () => {
  const close = (until: string) => database.query(`UPDATE product_counts SET closed_until = ${until}`);
  await close("now() + interval '1 hour'");
  expect(await like([one])).toEqual(['comment_not_found']);
  await close('NULL');
  expect(await like([one])).toEqual([1]);
});

// Citus locks rows in no order; what meets crosswise there is found out and tried again (docs/scaling.md).
if (inject('citusWorkers').length === 0) {
  test('those that wait for one comment hold no other that somebody could wait for', async () => {
    const [first, second] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`] as const;
    // As they lie in the table, the second comes first.
    await database.query(
      "INSERT INTO comments (id, product_id, content) VALUES ($1::uuid, 'tide', 'x'), ($2::uuid, 'tide', 'x')",
      [second, first],
    );
    let waiting: Promise<unknown[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM comments WHERE id = $1 FOR UPDATE', [first]);
      waiting = like([second], [first]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // Had the others taken the second comment before the first, the two would now stand crosswise.
      await sql.query('UPDATE comments SET likes = likes + 1 WHERE id = $1', [second]);
    });
    expect(await waiting).toEqual([2, 1]);
  });
}
