import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { deadlockOnce } from '../../../tests/support/interrupted-transactions.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listAudit } from '../audit/audit-log.ts';
import { sentenceOf } from '../audit/audit-sentence.ts';
import { listModeration } from '../audit/moderation-log.ts';
import { hideComments } from '../comments/moderate-comments.ts';
import { createCore } from '../core.ts';
import { readProducts } from '../products/product-row.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { loadSample, loadSampleIfNew } from './load-sample.ts';
import { previewRemoval, removeSample } from './remove-sample.ts';
import { readSampleCatalogue, type SampleCatalogue } from './sample-catalogue.ts';

const FOLDER = join(import.meta.dirname, '../../../catalogue');

let catalogue: SampleCatalogue;
let database: TestDatabase;

beforeAll(async () => {
  catalogue = await readSampleCatalogue(FOLDER);
});

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(() => database.drop());

const load = () => loadSample(database, catalogue, systemRuntime);
const remove = (options = { engagementOnly: false }) => removeSample(database, catalogue, options);

async function rowsOf(table: 'products' | 'product_counts' | 'upvotes' | 'comments'): Promise<number> {
  const [row] = await database.query<{ rows: number }>(`SELECT count(*)::integer AS rows FROM ${table}`);
  return row?.rows ?? 0;
}

/** Finds products whose stored counts differ from the numbers of their rows. */
async function wrongCounts(): Promise<unknown[]> {
  return database.query(`SELECT p.id FROM products p LEFT JOIN product_counts c ON c.product_id = p.id
    WHERE c.upvotes IS DISTINCT FROM (SELECT count(*) FROM upvotes u WHERE u.product_id = p.id)
       OR c.comments IS DISTINCT FROM (SELECT count(*) FROM comments m WHERE m.product_id = p.id)`);
}

/** Returns the id of a sample product that has both sample upvotes and sample comments. */
function engagedProduct(): string {
  const id = catalogue.comments.find(({ productId }) =>
    catalogue.upvotes.some((upvote) => upvote.productId === productId),
  )?.productId;
  if (id === undefined) throw new Error('No sample product has both upvotes and comments');
  return id;
}

describe('loading', () => {
  test('all products, upvotes and comments of the catalogue are stored, and counts match the rows', async () => {
    expect(await load()).toBe(catalogue.products.length);
    expect(await rowsOf('products')).toBe(catalogue.products.length);
    expect(await rowsOf('upvotes')).toBe(catalogue.upvotes.length);
    expect(await rowsOf('comments')).toBe(catalogue.comments.length);
    expect(await wrongCounts()).toEqual([]);

    const core = createCore(database);
    for (const product of catalogue.products.slice(0, 5)) {
      expect((await core.getProduct(product.id))?.product).toMatchObject(product);
    }
    const id = engagedProduct();
    const { items } = await core.listComments(id, { limit: 100 });
    expect(items).toEqual(expect.arrayContaining(catalogue.comments.filter(({ productId }) => productId === id)));
  });

  test('loading the sample twice adds nothing', async () => {
    await load();
    expect(await load()).toBe(0);
    expect(await rowsOf('upvotes')).toBe(catalogue.upvotes.length);
    expect(await rowsOf('comments')).toBe(catalogue.comments.length);
    expect(await wrongCounts()).toEqual([]);
  });

  test('an existing product stays unchanged and gets no sample engagement, and missing products are added', async () => {
    const own = buildProduct({ id: engagedProduct(), name: 'Our own' });
    await saveProducts(database, [own]);
    expect(await load()).toBe(catalogue.products.length - 1);
    expect((await createCore(database).getProduct(own.id))?.product).toEqual({ ...own, upvotes: 0, comments: 0 });
  });

  test('a product that another transaction creates during the load stays unchanged and gets no sample engagement', async () => {
    const [product] = catalogue.products;
    if (!product) throw new Error('The sample has no products');
    let loading: Promise<number> = Promise.resolve(0);
    await database.transaction(async (sql) => {
      await saveProducts(sql, [{ ...product, name: 'Mine' }]);
      loading = load();
      await expect.poll(async () => (await blockedStatements(database)).join()).toContain('products');
    });
    expect(await loading).toBe(catalogue.products.length - 1);
    expect(await readProducts(database, [product.id])).toMatchObject([{ name: 'Mine', upvotes: 0, comments: 0 }]);
    expect(await wrongCounts()).toEqual([]);
  });

  test('a failed load changes nothing', async () => {
    const [comment] = catalogue.comments;
    if (comment === undefined) throw new Error('The catalogue has no comment');
    const faulty = { ...catalogue, comments: [{ ...comment, id: 'no UUID' }] };
    await expect(loadSample(database, faulty, systemRuntime)).rejects.toThrow('uuid');
    expect(await rowsOf('products')).toBe(0);
    expect(await loadSampleIfNew(database, catalogue, systemRuntime)).toBe(catalogue.products.length);
  });
});

describe('at the start of a site', () => {
  const start = () => loadSampleIfNew(database, catalogue, systemRuntime);

  test('a site without products gets the catalogue once', async () => {
    expect(await start()).toBe(catalogue.products.length);
    expect(await start()).toBe(0);
  });

  test('a site with a product gets no catalogue, even if it starts again after the product was removed', async () => {
    const product = buildProduct();
    await saveProducts(database, [product]);
    expect(await start()).toBe(0);
    expect(await rowsOf('products')).toBe(1);
    await removeProducts(database, [product.id]);
    expect(await start()).toBe(0);
    expect(await rowsOf('products')).toBe(0);
  });

  test('a removed catalogue does not come back, even if the site is empty', async () => {
    await start();
    await remove();
    expect(await rowsOf('products')).toBe(0);
    expect(await start()).toBe(0);
    expect(await rowsOf('products')).toBe(0);
  });

  test('`loadSample`, unlike a start, loads a removed catalogue again', async () => {
    await load();
    await remove();
    expect(await load()).toBe(catalogue.products.length);
  });
});

describe('removing', () => {
  test('the whole sample is removed, with upvotes and comments of visitors on its products', async () => {
    await load();
    const id = engagedProduct();
    const core = createCore(database);
    await core.setUpvote({ productId: id, session: 'session-visitor', upvoted: true });
    await core.addComment({ productId: id, content: 'Mine' }, { session: 'session-visitor' });
    const preview = await previewRemoval(database, catalogue, { engagementOnly: false });
    expect(await remove()).toEqual(preview);
    expect(preview).toEqual({
      products: catalogue.products.length,
      comments: catalogue.comments.length,
      upvotes: catalogue.upvotes.length,
      visitorComments: 1,
      visitorUpvotes: 1,
      notRemoved: [],
    });
    for (const table of ['products', 'product_counts', 'upvotes', 'comments'] as const) {
      expect(await rowsOf(table), table).toBe(0);
    }
  });

  test("the audit log records the operator's commands, but not the sample that the first start loaded", async () => {
    const entries = async () =>
      (await listAudit(database, { target: 'sample catalogue', limit: 9 })).map(({ action, details }) => ({
        action,
        details,
      }));
    await loadSampleIfNew(database, catalogue, systemRuntime);
    await load();
    expect(await entries()).toEqual([]);
    const counts = { products: catalogue.products.length, comments: catalogue.comments.length };
    await remove();
    await load();
    expect(await entries()).toEqual([
      { action: 'sample load', details: { created: counts.products } },
      {
        action: 'sample remove',
        details: { ...counts, upvotes: catalogue.upvotes.length, visitorComments: 0, visitorUpvotes: 0 },
      },
    ]);
  });

  test('the moderation log lists each removed product, but not the removal of engagement', async () => {
    await load();
    const listed = async () => (await listModeration(database, { limit: 100 }, new Date())).items;
    await remove({ engagementOnly: true });
    expect(await listed()).toEqual([]);
    const [changed, ...others] = catalogue.products.map(({ id }) => id);
    await database.query("UPDATE products SET description = 'Ours now' WHERE id = $1", [changed]);
    await createCore(database).setUpvote({ productId: 'react', session: 'session-visitor', upvoted: true });
    await remove();
    const entries = await listed();
    expect(entries.map(({ productId }) => productId).sort()).toEqual(others.sort());
    for (const entry of entries)
      expect(entry).toMatchObject({
        action: 'product.removed',
        productName: null,
        reason: 'Sample catalogue removed',
        undoneAt: null,
      });
    const [react] = await listAudit(database, { target: 'react', limit: 1 });
    expect(react && sentenceOf(react)).toBe(
      "removed 'React' (react) with 1 upvote and 0 comments (Sample catalogue removed)",
    );
  });

  test('a hidden sample comment is also removed, and is not subtracted from the count twice', async () => {
    await load();
    const [comment] = catalogue.comments;
    if (!comment) throw new Error('The sample has no comments');
    await hideComments(database, [comment.id]);
    const core = createCore(database);
    await core.addComment({ productId: comment.productId, content: 'Mine' }, { session: 'session-visitor' });
    expect((await remove({ engagementOnly: true })).comments).toBe(catalogue.comments.length);
    expect((await core.getProduct(comment.productId))?.product.comments).toBe(1);
    expect(await wrongCounts()).toEqual([]);
  });

  test('removing the sample again removes no more rows', async () => {
    await load();
    await remove();
    expect(await remove()).toEqual({
      products: 0,
      comments: 0,
      upvotes: 0,
      visitorComments: 0,
      visitorUpvotes: 0,
      notRemoved: [],
    });
  });

  test('removing the sample leaves other products and their engagement', async () => {
    await load();
    const own = buildProduct();
    await saveProducts(database, [own]);
    await createCore(database).setUpvote({ productId: own.id, session: 'session-visitor', upvoted: true });
    await remove();
    expect((await createCore(database).getProduct(own.id))?.product).toEqual({ ...own, upvotes: 1, comments: 0 });
  });

  test("a changed sample product is not removed and keeps visitors' comments, but loses the sample engagement", async () => {
    await load();
    const id = engagedProduct();
    const core = createCore(database);
    await core.addComment({ productId: id, content: 'Mine' }, { session: 'session-visitor' });
    await database.query("UPDATE products SET description = 'Ours now' WHERE id = $1", [id]);
    expect(await remove()).toMatchObject({ products: catalogue.products.length - 1, notRemoved: [id] });
    expect((await core.getProduct(id))?.product).toMatchObject({ description: 'Ours now', upvotes: 0, comments: 1 });
    expect(await wrongCounts()).toEqual([]);
  });

  test('a sample product whose edit commits while the removal waits for it is not removed', async () => {
    await load();
    const [product] = catalogue.products;
    if (!product) throw new Error('The sample has no products');
    let removal: ReturnType<typeof remove> | undefined;
    await database.transaction(async (sql) => {
      await saveProducts(sql, [{ ...product, name: 'Mine' }]);
      removal = remove();
      await expect.poll(async () => (await blockedStatements(database)).join()).toContain('products');
    });
    expect(await removal).toMatchObject({ notRemoved: [product.id] });
    expect(await readProducts(database, [product.id])).toMatchObject([{ name: 'Mine' }]);
  });

  test('a removal that deadlocks with another transaction is retried', async () => {
    await load();
    await removeSample(deadlockOnce(database, 'DELETE FROM products'), catalogue, { engagementOnly: false });
    expect(await rowsOf('products')).toBe(0);
  });

  test("removing with engagementOnly keeps products and visitors' engagement, and counts match the rows", async () => {
    await load();
    const id = engagedProduct();
    const core = createCore(database);
    await core.setUpvote({ productId: id, session: 'session-visitor', upvoted: true });
    expect(await remove({ engagementOnly: true })).toEqual({
      products: 0,
      comments: catalogue.comments.length,
      upvotes: catalogue.upvotes.length,
      visitorComments: 0,
      visitorUpvotes: 0,
      notRemoved: [],
    });
    expect(await rowsOf('products')).toBe(catalogue.products.length);
    expect(await rowsOf('upvotes')).toBe(1);
    expect(await rowsOf('comments')).toBe(0);
    expect(await wrongCounts()).toEqual([]);
  });
});
