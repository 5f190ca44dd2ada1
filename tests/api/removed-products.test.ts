import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import type { ProductPage } from '../../src/contract/products/schema.ts';
import type { Upvoted } from '../../src/contract/upvotes/schema.ts';
import { listAudit } from '../../src/core/audit/audit-log.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { listRemovals, removeProducts } from '../../src/core/products/remove-products.ts';
import { restoreProducts } from '../../src/core/products/restore-products.ts';
import { HOSTILE } from '../hostile/corpus.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { withoutTimeouts } from '../support/recording-database.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

afterAll(async () => {
  expect((await checkCounts(site.database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  await site.close();
});

/** All hostile texts that PostgreSQL can store, joined into one. */
const HOSTILE_TEXT = HOSTILE.map(({ text }) => text)
  .filter((text) => text.isWellFormed() && !text.includes('\0'))
  .join(' ');

const newId = () => `p-${randomUUID()}`;
const status = async (path: string) => (await site.ask.get(path)).statusCode;
/** Polls, because the site shows a change made directly in the database only after a notification. */
const soon = (read: () => Promise<unknown>) => expect.poll(read, { interval: 20 });

/** Adds a product with upvotes and all kinds of comments: public, liked, held and hidden. */
async function newDiscussed(overrides: Parameters<TestSite['addProduct']>[0] = {}) {
  const { id } = await site.addProduct({ id: newId(), ...overrides });
  const visitor = newVisitor();
  await site.ask.put(`/api/products/${id}/upvote`, visitor);
  await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
  const post = async (body: object) =>
    (await site.ask.post('/api/comments', { productId: id, ...body }, visitor)).json<AddedComment>().comment;
  const comment = await post({ content: HOSTILE_TEXT.slice(0, 1_500) });
  await site.ask.post(`/api/comments/${comment.id}/like`, undefined, newVisitor());
  await post({ content: 'Held', website: 'https://spam.example' });
  const hidden = await post({ content: 'Hidden' });
  await site.database.query('UPDATE comments SET hidden_at = now() WHERE id = $1', [hidden.id]);
  await site.database.query('UPDATE product_counts SET comments = comments - 1 WHERE product_id = $1', [id]);
  return { id, visitor, comment };
}

/** Returns all rows of a product, with all columns. */
async function rowsOf(id: string): Promise<unknown[]> {
  const rows = await Promise.all(
    [
      'SELECT to_jsonb(p) AS row FROM products p WHERE id = $1',
      'SELECT to_jsonb(c) AS row FROM product_counts c WHERE product_id = $1',
      'SELECT to_jsonb(u) AS row FROM upvotes u WHERE product_id = $1 ORDER BY id',
      'SELECT to_jsonb(m) AS row FROM comments m WHERE product_id = $1 ORDER BY id',
    ].map((statement) => site.database.query(statement, [id])),
  );
  return rows.flat();
}

describe('a removed product', () => {
  test('disappears with its counts, upvotes and comments; its page returns 410, and the API returns 404 Product not found', async () => {
    const { id, visitor, comment } = await newDiscussed();
    const other = await newDiscussed();
    const untouched = await rowsOf(other.id);
    await soon(() => status(`/product/${id}`)).toBe(200);

    expect(await removeProducts(site.database, [id, id])).toEqual({
      removed: [{ id, name: expect.any(String), upvotes: 2, comments: 1, removalId: expect.any(String) }],
      unknown: [],
    });
    await soon(() => status(`/product/${id}`)).toBe(410);
    const page = await site.ask.get(`/product/${id}`);
    expect(page.body).toContain('Product not found');
    expect(page.headers['cache-control']).toBe('no-store');
    await soon(() => status(`/api/products/${id}`)).toBe(404);
    expectProblem(await site.ask.get(`/api/products/${id}`), 404, 'product_not_found', 'Product not found');
    expectProblem(await site.ask.get(`/api/products/${id}/comments`), 404, 'product_not_found');
    expectProblem(await site.ask.put(`/api/products/${id}/upvote`, visitor), 404, 'product_not_found');
    expectProblem(await site.ask.delete(`/api/products/${id}/upvote`, visitor), 404, 'product_not_found');
    expectProblem(
      await site.ask.post('/api/comments', { productId: id, content: 'x' }, visitor),
      404,
      'product_not_found',
    );
    expectProblem(
      await site.ask.post(`/api/comments/${comment.id}/like`, undefined, visitor),
      404,
      'comment_not_found',
    );
    expect(await site.ask.json<Upvoted>(`/api/upvotes?products=${id}`, visitor)).toEqual({ upvoted: [] });
    for (const sort of ['newest', 'top', 'discussed']) {
      const { items } = await site.ask.json<ProductPage>(`/api/products?limit=100&sort=${sort}`);
      expect(items.map((item) => item.id)).not.toContain(id);
    }
    expect(await rowsOf(id)).toEqual([]);
    expect(await rowsOf(other.id)).toEqual(untouched);
  });

  test('has a page that returns 410, also for HEAD, until it is restored; pages of unknown products return 404', async () => {
    const { id } = await newDiscussed();
    await removeProducts(site.database, [id]);
    await soon(() => status(`/product/${id}`)).toBe(410);
    expect((await site.app.inject({ method: 'HEAD', url: `/product/${id}` })).statusCode).toBe(410);
    expect(await status(`/product/${newId()}`)).toBe(404);
    expect(await status('/product/%00')).toBe(404);
    await restoreProducts(site.database, { productIds: [id] });
    await soon(() => status(`/product/${id}`)).toBe(200);
  });

  test('has a page that returns 404 if it had not launched, because it was never public', async () => {
    const { id } = await site.addProduct({ id: newId(), createdAt: new Date(Date.now() + 3_600_000).toISOString() });
    await removeProducts(site.database, [id]);
    expect(await status(`/product/${id}`)).toBe(404);
  });

  test('has a page that returns 410 if its launch was postponed before it was removed', async () => {
    const { id } = await newDiscussed();
    const now = new Date();
    await editProduct(site.database, id, { values: { createdAt: '2100-01-01T00:00:00Z' } }, { now });
    await removeProducts(site.database, [id]);
    await soon(() => status(`/product/${id}`)).toBe(410);
  });

  test('is restored exactly, with every row and every column', async () => {
    const name = HOSTILE_TEXT.slice(0, 5_000);
    const { id, visitor } = await newDiscussed({
      name,
      tags: ['a,b', '"quoted"', '{}', 'NULL', '\\'],
      team: [{ name: 'Žofie "Z" \\', avatar: '', role: '\u{1f469}\u200d\u{1f680}' }],
      createdAt: '2019-02-28T23:59:59.999Z',
    });
    const before = await rowsOf(id);
    expect(before).toHaveLength(1 + 1 + 2 + 3);
    await removeProducts(site.database, [id]);
    expect(await restoreProducts(site.database, { last: true })).toMatchObject({ restored: [{ id }], taken: [] });
    expect(await rowsOf(id)).toEqual(before);
    expect(await listRemovals(site.database, { productId: id, limit: 9 })).toEqual([]);
    expect(await site.ask.json<Upvoted>(`/api/upvotes?products=${id}`, visitor)).toEqual({ upvoted: [id] });
    expect((await site.ask.put(`/api/products/${id}/upvote`, newVisitor())).json()).toEqual({
      upvoted: true,
      upvotes: 3,
    });
    for (const table of ['removed_upvotes', 'removed_comments']) {
      const rows = await site.database.query(
        `SELECT 1 FROM ${table} WHERE removal_id NOT IN (SELECT removal_id FROM removed_products)`,
      );
      expect(rows).toEqual([]);
    }
  });

  test('is removed with the others of its command, or not at all if one of them is unknown', async () => {
    const [one, two] = [(await newDiscussed()).id, (await newDiscussed()).id];
    const unknown = newId();
    expect(await removeProducts(site.database, [one, unknown, two])).toEqual({ removed: [], unknown: [unknown] });
    expect((await rowsOf(one)).length).toBeGreaterThan(0);
    const { removed } = await removeProducts(site.database, [one, two]);
    expect(removed.map(({ id }) => id).sort()).toEqual([one, two].sort());
    // Restores all products of the last command.
    const { restored } = await restoreProducts(site.database, { last: true });
    expect(restored.map(({ id }) => id).sort()).toEqual([one, two].sort());
  });

  test('is removed or restored only once by simultaneous commands', async () => {
    const { id } = await newDiscussed();
    const before = await rowsOf(id);
    const removals = await Promise.all([1, 2, 3].map(() => removeProducts(site.database, [id])));
    expect(removals.map(({ removed }) => removed.length).sort()).toEqual([0, 0, 1]);
    const back = await Promise.all([1, 2, 3].map(() => restoreProducts(site.database, { productIds: [id] })));
    expect(back.map(({ restored }) => restored.length).sort()).toEqual([0, 0, 1]);
    expect(await rowsOf(id)).toEqual(before);
  });

  test('is not restored, nor are the products removed with it, while another product has its id', async () => {
    const { id } = await newDiscussed({ name: 'First' });
    const first = await rowsOf(id);
    const { id: other } = await newDiscussed();
    await removeProducts(site.database, [id, other]);
    await site.addProduct({ id, name: 'Second' });
    expect(await restoreProducts(site.database, { last: true })).toMatchObject({
      restored: [],
      notRemoved: [],
      taken: [id],
    });
    expect(await rowsOf(other)).toEqual([]);
    await soon(() => status(`/product/${id}`)).toBe(200);

    await removeProducts(site.database, [id]);
    const [second, firstRemoval] = await listRemovals(site.database, { productId: id, limit: 9 });
    expect([second?.name, firstRemoval?.name]).toEqual(['Second', 'First']);
    await restoreProducts(site.database, { removalIds: [firstRemoval?.removalId ?? ''] });
    expect(await rowsOf(id)).toEqual(first);
  });

  test('is restored only if it was removed, and any other id is returned as not removed', async () => {
    const { id } = await newDiscussed();
    expect(await restoreProducts(site.database, { productIds: [id] })).toMatchObject({
      restored: [],
      notRemoved: [id],
      taken: [],
    });
    const removalId = randomUUID();
    expect((await restoreProducts(site.database, { removalIds: [removalId] })).notRemoved).toEqual([removalId]);
  });

  test('has audit log entries for its removal and restoration, with its counts, but without sessions and comments', async () => {
    const { id, visitor, comment } = await newDiscussed({ name: 'Tide' });
    await removeProducts(site.database, [id], 'spam');
    await restoreProducts(site.database, { productIds: [id] });
    const details = { name: 'Tide', upvotes: 2, comments: 1 };
    const entries = await listAudit(site.database, { limit: 2 });
    expect(entries).toMatchObject([
      { action: 'products restore', target: id, details },
      { action: 'products remove', target: id, details: { ...details, reason: 'spam' } },
    ]);
    expect(entries[0]?.undoes).toBe(entries[1]?.id);
    expect(JSON.stringify(entries)).not.toContain(visitor['x-user-session']);
    for (const text of [comment.id, JSON.stringify(comment.content).slice(1, -1), 'Held', 'Hidden'])
      expect(JSON.stringify(entries)).not.toContain(text);
  });
});

describe('while a product with very many upvotes is removed', () => {
  test('writes to the product fail immediately, other writes succeed, and the write block of a killed command expires', async () => {
    const [{ id, comment }, other] = [await newDiscussed(), await newDiscussed()];
    await site.database.query(
      `INSERT INTO upvotes (id, product_id, user_session)
       SELECT gen_random_uuid(), $1, 'session-made-' || n FROM generate_series(1, 6000) AS n`,
      [id],
    );
    await site.database.query('UPDATE product_counts SET upvotes = upvotes + 6000 WHERE product_id = $1', [id]);
    const before = await rowsOf(id);

    // The removal does all its work, and then waits for this lock before its last statement.
    let removal: Promise<unknown> = Promise.resolve();
    const vote = (productId: string) => site.ask.put(`/api/products/${productId}/upvote`, newVisitor());
    await site.database.transaction(async (sql) => {
      await sql.query('LOCK TABLE audit_log IN SHARE MODE');
      removal = removeProducts(withoutTimeouts(site.database), [id]);
      // The refresh of the leaderboards may be blocked as well, because it waits for the removal.
      const waiting = async () => (await blockedStatements(site.database)).join();
      await soon(waiting).toContain('INSERT INTO audit_log');
      const [closed, open, like, post] = await Promise.all([
        vote(id),
        vote(other.id),
        site.ask.post(`/api/comments/${comment.id}/like`, undefined, newVisitor()),
        site.ask.post('/api/comments', { productId: id, content: 'Too late' }, newVisitor()),
      ]);
      expectProblem(closed, 404, 'product_not_found');
      expect(open.json()).toEqual({ upvoted: true, upvotes: 3 });
      expectProblem(like, 404, 'comment_not_found');
      expectProblem(post, 404, 'product_not_found');
      // Readers still see the whole product.
      expect(await status(`/product/${id}`)).toBe(200);
      expect((await rowsOf(id)).length).toBe(before.length);
    });
    await removal;
    expect(await rowsOf(id)).toEqual([]);
    await restoreProducts(site.database, { last: true });
    expect((await vote(id)).json()).toEqual({ upvoted: true, upvotes: 6_003 });

    // Simulates a killed command, after which writes are blocked until the given time.
    const close = (until: string) =>
      site.database.query(`UPDATE product_counts SET writes_blocked_until = ${until} WHERE product_id = $1`, [id]);
    await close("now() + interval '1 hour'");
    expectProblem(await vote(id), 404, 'product_not_found');
    await close("now() - interval '1 millisecond'");
    expect((await vote(id)).statusCode).toBe(200);
  });
});
