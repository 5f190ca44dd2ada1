import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listActs } from '../audit/list-acts.ts';
import { followSite } from '../changes/site-changes.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemSources } from '../sources.ts';
import { addComments } from './add-comments.ts';
import { browseComments } from './browse-comments.ts';
import { draftComment } from './draft.ts';
import { hideComments } from './hide-comments.ts';
import { listComments } from './list-comments.ts';
import { releaseComments } from './release-comments.ts';
import { restoreComments } from './restore-comments.ts';

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
  const drafts = ['seen', 'other', 'held'].map((content) =>
    draftComment(systemSources, { productId, content }, { session: 'session-a' }, { held: content === 'held' }),
  );
  await addComments(database, systemSources, drafts);
  [seen = '', other = '', held = ''] = drafts.map(({ comment }) => comment.id);
});

/** What everybody reads, and how many are counted. */
async function shown(): Promise<[contents: string[], counted: number]> {
  const { items, total } = await listComments(database, productId, { sort: 'newest' });
  return [items.map(({ content }) => content).sort(), total];
}

const moderated = (id: string) => ({ id, productId });

describe('Hidden comments', () => {
  test('are shown to nobody and not counted; a held one was not, and changes no count', async () => {
    expect(await hideComments(database, [seen, held])).toEqual({
      done: expect.arrayContaining([moderated(seen), moderated(held)]),
      skipped: [],
    });
    expect(await shown()).toEqual([['other'], 1]);
  });

  test('are hidden once, whatever the id looks like; what is hidden, unknown or no id is named', async () => {
    const unknown = randomUUID();
    await hideComments(database, [other]);
    expect(await hideComments(database, [seen.toUpperCase(), seen, other, unknown, 'No id'])).toEqual({
      done: [moderated(seen)],
      skipped: [other, unknown, 'no id'],
    });
    expect(await shown()).toEqual([[], 0]);
  });

  test('come back as they were, and are counted once; a held one is held again', async () => {
    await hideComments(database, [seen, held], 'Rude');
    expect(await restoreComments(database, [seen, held, other])).toEqual({
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

describe('Released comments', () => {
  test('are shown and counted from then on, once', async () => {
    expect(await releaseComments(database, [held, seen])).toEqual({ released: [moderated(held)], notHeld: [seen] });
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
    expect((await releaseComments(database, [held])).notHeld).toEqual([held]);
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
  });

  test('stay hidden where they were hidden as well, and are counted when they come back', async () => {
    await hideComments(database, [held]);
    expect((await releaseComments(database, [held])).released).toEqual([moderated(held)]);
    expect(await shown()).toEqual([['other', 'seen'], 2]);
    await restoreComments(database, [held]);
    expect(await shown()).toEqual([['held', 'other', 'seen'], 3]);
  });
});

test('each of them is written down with its product and the reason, where one was given; what was skipped is not', async () => {
  await hideComments(database, [seen], 'Spam');
  await hideComments(database, [seen, other]);
  await restoreComments(database, [seen]);
  await releaseComments(database, [held]);
  await hideComments(database, [randomUUID()]);
  const acts = await listActs(database, { limit: 4 });
  expect(acts.map(({ act, subject, details }) => [act, subject, details])).toEqual([
    ['comments release', held, { productId }],
    ['comments restore', seen, { productId }],
    ['comments hide', other, { productId }],
    ['comments hide', seen, { productId, reason: 'Spam' }],
  ]);
  const [hidden] = await browseComments(database, { productId, hiddenOnly: true, limit: 9 });
  expect(hidden).toMatchObject({ content: 'other', hidden: { reason: null, since: expect.stringMatching(/Z$/) } });
});

test('the processes of the site are told which products and comments changed, and nothing of the catalogue', async () => {
  const changes = followSite(database, silentLog);
  try {
    await changes.ready;
    const heard: unknown[] = [];
    changes.follow({ onChange: (change) => heard.push(change), onGap: () => heard.push('gap') });
    await hideComments(database, [seen, other]);
    await expect.poll(() => heard).toHaveLength(1);
    expect(heard).toEqual([
      expect.objectContaining({
        productIds: [productId],
        catalogue: false,
        commentIds: expect.arrayContaining([seen, other]),
      }),
    ]);
  } finally {
    await changes.close();
  }
});

// Citus locks rows in no order; what meets crosswise there is found out and tried again (docs/scaling.md).
if (inject('citusWorkers').length === 0) {
  test('who moderates waits for a product first, and holds no comment meanwhile that somebody could wait for', async () => {
    let hiding: Promise<unknown> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
      hiding = hideComments(database, [seen]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query('UPDATE comments SET likes = likes + 1 WHERE id = $1', [seen]);
    });
    expect(await hiding).toEqual({ done: [moderated(seen)], skipped: [] });
  });

  test('who moderates waits for nothing but the products and comments that it is about', async () => {
    const elsewhere = `p-${randomUUID()}`;
    await saveProducts(database, [buildProduct({ id: elsewhere })]);
    const [far] = await addComments(database, systemSources, [
      draftComment(systemSources, { productId: elsewhere, content: 'far' }, { session: 'session-a' }),
    ]);
    expect(far).toMatchObject({ created: true });
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [elsewhere]);
      await sql.query('SELECT FROM comments WHERE id = $1 FOR UPDATE', [other]);
      expect(await hideComments(database, [seen])).toEqual({ done: [moderated(seen)], skipped: [] });
    });
  });

  test('comments are taken in the order of their ids, so that two who moderate never stand crosswise', async () => {
    const [first, second] = [`0${randomUUID().slice(1)}`, `f${randomUUID().slice(1)}`] as const;
    // As they lie in the table, the second comes first.
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
