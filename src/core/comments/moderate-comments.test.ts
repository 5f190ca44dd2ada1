import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listAudit } from '../audit/audit-log.ts';
import { AUDIT_LOG, MODERATION_LOG } from '../changes/change-feed.ts';
import { subscribeToChanges } from '../changes/site-changes.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { addComments } from './add-comments.ts';
import { browseComments } from './browse-comments.ts';
import { listComments } from './list-comments.ts';
import { hideComments, releaseComments, restoreComments } from './moderate-comments.ts';
import { prepareComment } from './prepare-comment.ts';

let database: TestDatabase;
let productId: string;
let seen: string;
let other: string;
let held: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  productId = `p-${randomUUID()}`;
  await saveProducts(database, [buildProduct({ id: productId })]);
  const prepared = ['seen', 'other', 'held'].map((content) =>
    prepareComment(systemRuntime, { productId, content }, { session: 'session-a' }, { held: content === 'held' }),
  );
  await addComments(database, systemRuntime, prepared);
  [seen = '', other = '', held = ''] = prepared.map(({ comment }) => comment.id);
});

/** Returns the contents of the public comments, and the stored count. */
async function shown(): Promise<[contents: string[], counted: number]> {
  const { items, total } = await listComments(database, productId, { sort: 'newest' }, new Date());
  return [items.map(({ content }) => content).sort(), total];
}

const moderated = (id: string) => ({ id, productId });

describe('hidden comments', () => {
  test('hidden comments are neither shown nor counted, and hiding a held comment changes no count', async () => {
    expect(await hideComments(database, [seen, held])).toMatchObject({
      done: expect.arrayContaining([moderated(seen), moderated(held)]),
      skipped: [],
    });
    expect(await shown()).toEqual([['other'], 1]);
  });

  test('a comment is hidden once, even by an upper-case id, and already hidden, unknown and invalid ids are reported', async () => {
    const unknown = randomUUID();
    await hideComments(database, [other]);
    expect(await hideComments(database, [seen.toUpperCase(), seen, other, unknown, 'No id'])).toMatchObject({
      done: [moderated(seen)],
      skipped: [other, unknown, 'no id'],
    });
    expect(await shown()).toEqual([[], 0]);
  });

  test('hidden comments are restored unchanged and counted once, and a held comment is held again', async () => {
    await hideComments(database, [seen, held], 'Rude');
    expect(await restoreComments(database, [seen, held, other])).toMatchObject({
      done: expect.arrayContaining([moderated(seen), moderated(held)]),
      skipped: [other],
    });
    expect(await shown()).toEqual([['other', 'seen'], 2]);
    const rows = await browseComments(database, { productId, limit: 9 });
    expect(rows.map(({ content, hidden, held: isHeld }) => [content, hidden, isHeld])).toEqual(
      expect.arrayContaining([
        ['seen', null, false],
        ['held', null, true],
      ]),
    );
    expect((await restoreComments(database, [seen])).skipped).toEqual([seen]);
    expect(await shown()).toEqual([['other', 'seen'], 2]);
  });
});

describe('released comments', () => {
  test('released comments are shown, and are counted once', async () => {
    expect(await releaseComments(database, [held, seen])).toMatchObject({ done: [moderated(held)], skipped: [seen] });
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
    expect((await releaseComments(database, [held])).skipped).toEqual([held]);
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
  });

  test('a hidden comment that is released stays hidden, and is counted once it is restored', async () => {
    await hideComments(database, [held]);
    expect((await releaseComments(database, [held])).done).toEqual([moderated(held)]);
    expect(await shown()).toEqual([['other', 'seen'], 2]);
    await restoreComments(database, [held]);
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
  });
});

test('the audit log has an entry with product and reason for each moderated comment, and none for skipped ones', async () => {
  await hideComments(database, [seen], 'Spam');
  await hideComments(database, [seen, other]);
  await restoreComments(database, [seen]);
  await releaseComments(database, [held]);
  await hideComments(database, [randomUUID()]);
  const entries = await listAudit(database, { limit: 4 });
  expect(entries.map(({ action, target, details }) => [action, target, details])).toEqual([
    ['comments release', held, { productId }],
    ['comments restore', seen, { productId }],
    ['comments hide', other, { productId }],
    ['comments hide', seen, { productId, reason: 'Spam' }],
  ]);
  expect(entries.map(({ undoes }) => undoes)).toEqual([null, entries[3]?.id, null, null]);
  const [hidden] = await browseComments(database, { productId, hidden: true, limit: 9 });
  expect(hidden).toMatchObject({ content: 'other', hidden: { reason: null, since: expect.stringMatching(/Z$/) } });
});

test('moderation publishes a change of the affected products and comments, but not of the catalogue', async () => {
  const changes = subscribeToChanges(database, silentLog);
  try {
    await changes.ready;
    const heard: unknown[] = [];
    changes.subscribe({ onChange: (change) => heard.push(change), onGap: () => heard.push('gap') });
    await hideComments(database, [seen, other]);
    await expect.poll(() => heard).toHaveLength(2);
    expect(heard).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ productIds: [AUDIT_LOG, MODERATION_LOG], catalogue: false }),
        expect.objectContaining({
          productIds: [productId],
          catalogue: false,
          commentIds: expect.arrayContaining([seen, other]),
        }),
      ]),
    );
  } finally {
    await changes.close();
  }
});

// On Citus, rows are locked in no particular order; deadlocks are detected and transactions retried (decision 18).
if (!isCitus) {
  test('moderation locks the product before its comments', async () => {
    let hiding: Promise<unknown> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
      hiding = hideComments(database, [seen]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query('UPDATE comments SET likes = likes + 1 WHERE id = $1', [seen]);
    });
    expect(await hiding).toMatchObject({ done: [moderated(seen)], skipped: [] });
  });

  test('moderation waits only for locks on the affected products and comments', async () => {
    const elsewhere = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id: elsewhere })]);
    const {
      outcomes: [far],
    } = await addComments(database, systemRuntime, [
      prepareComment(systemRuntime, { productId: elsewhere, content: 'far' }, { session: 'session-a' }),
    ]);
    expect(far).toMatchObject({ created: true });
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [elsewhere]);
      await sql.query('SELECT FROM comments WHERE id = $1 FOR UPDATE', [other]);
      expect(await hideComments(database, [seen])).toMatchObject({ done: [moderated(seen)], skipped: [] });
    });
  });

  test('comments are locked in the order of their ids, so two moderators never deadlock', async () => {
    const [first, second] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`] as const;
    // The comment with the greater id comes first in physical order.
    await database.query(
      "INSERT INTO comments (id, product_id, content) VALUES ($1::uuid, $3, 'x'), ($2::uuid, $3, 'x')",
      [second, first, productId],
    );
    let hiding: Promise<unknown> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM comments WHERE id = $1 FOR UPDATE', [first]);
      hiding = hideComments(database, [second, first]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query('UPDATE comments SET likes = likes + 1 WHERE id = $1', [second]);
    });
    expect(await hiding).toMatchObject({ skipped: [] });
  });
}
