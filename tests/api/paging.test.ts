import { describe, expect, test } from 'vitest';
import type { ProductPage } from '../../src/contract/products/schema.ts';
import { deleteAllProducts, withLockedCounts } from '../support/delete-products.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { type ListQuery, listAddress, startProductListSite } from '../support/product-list-site.ts';

const on = startProductListSite();
const { list, addMany } = on;

describe('keyset paging (api.md, Conventions)', () => {
  const SORTS = ['newest', 'top', 'discussed'] as const;
  const TOTAL = 101;

  /** Reads every page, and calls `between` after each one. @returns the ids of all products. */
  async function walk(query: ListQuery, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages += 1) {
      expect(pages, 'pages').toBeLessThan(200);
      const page: ProductPage = await list(cursor === '' ? query : { ...query, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      await between();
    }
    return seen;
  }

  async function addWithTies(): Promise<string[]> {
    // Groups of seven share a creation time, so pages of every size end between ties in some sort order.
    const products = await addMany(TOTAL, (index) => ({
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 7))).toISOString(),
    }));
    await withLockedCounts(
      on.site.database,
      'UPDATE product_counts SET upvotes = length(product_id) * 3 % 5, comments = ascii(right(product_id, 1)) % 4',
    );
    return products.map(({ id }) => id).sort();
  }

  test.each(SORTS.flatMap((sort) => [1, 7, 30, 100].map((limit) => [sort, limit] as const)))(
    'with sort=%s and limit=%i, all pages together contain every product exactly once, in order',
    async (sort, limit) => {
      await addWithTies();
      const column = { newest: 'created_at', top: 'upvotes', discussed: 'comments' }[sort];
      const sorted = await on.site.database.query<{ id: string }>(
        `SELECT id FROM products JOIN product_counts ON product_id = id ORDER BY ${column} DESC, id DESC`,
      );
      expect(sorted).toHaveLength(TOTAL);
      expect(await walk({ sort, limit })).toEqual(sorted.map(({ id }) => id));
    },
  );

  test.each(SORTS)(
    'with sort=%s, products that are added during paging cause no duplicate or missing product',
    async (sort) => {
      const all = await addWithTies();
      const seen = await walk({ sort, limit: 10 }, () => on.site.addProduct());
      expect(new Set(seen).size, 'no product appears twice').toBe(seen.length);
      expect(seen.filter((id) => all.includes(id)).sort(), 'no product is missing').toEqual(all);
    },
  );

  test('a product that is removed during paging does not hide any other product', async () => {
    const all = await addWithTies();
    const first = await list({ limit: 10 });
    // Removes the product that the cursor is based on.
    const gone = first.items.at(-1)?.id ?? '';
    await on.site.database.query('DELETE FROM products WHERE id = $1', [gone]);
    const rest = await walk({ limit: 100, cursor: first.nextCursor ?? '' });
    expect([...first.items.map(({ id }) => id), ...rest].sort()).toEqual(all);
  });

  test('a last page that is exactly full has no cursor', async () => {
    await addMany(30);
    expect((await list({ limit: 30 })).nextCursor).toBeNull();
  });

  test('a cursor without further products returns an empty last page', async () => {
    await addMany(3);
    const { nextCursor } = await list({ limit: 2 });
    await deleteAllProducts(on.site.database);
    expect(await list({ cursor: nextCursor ?? '' })).toEqual({ items: [], nextCursor: null });
  });

  test('a cursor of another sort order is rejected with 400 bad_cursor', async () => {
    await addMany(3);
    for (const sort of SORTS) {
      const { nextCursor } = await list({ sort, limit: 1 });
      for (const other of SORTS.filter((name) => name !== sort)) {
        expectProblem(await on.site.ask.get(listAddress({ sort: other, cursor: nextCursor ?? '' })), 400, 'bad_cursor');
      }
    }
  });

  test('a truncated cursor is rejected with 400 bad_cursor', async () => {
    await addMany(2);
    const cursor = (await list({ limit: 1 })).nextCursor ?? '';
    for (const length of [1, 2, 3, Math.floor(cursor.length / 2), cursor.length - 4]) {
      expectProblem(await on.site.ask.get(listAddress({ cursor: cursor.slice(0, length) })), 400, 'bad_cursor');
    }
  });

  test.each([
    ['garbage', 'garbage!'],
    ['an SQL statement', encode("'; DROP TABLE products; --")],
    ['another shape', encode({ sort: 'newest' })],
    ['no sort keys', encode(['newest'])],
    ['SQL as the id', encode(['newest', '2026-01-01T00:00:00.000Z', "x' OR '1'='1"])],
    ['an invalid time', encode(['newest', 'soon', 'a'])],
    ['a time that PostgreSQL does not accept', encode(['newest', '+275760-09-13T00:00:00.000Z', 'a'])],
    ['nested sort keys', encode(['newest', ['2026-01-01T00:00:00.000Z'], 'a'])],
    ['no position', encode(['newest', '2026-01-01T00:00:00.000Z', 'a']).slice(0, -3)],
    ['a negative position', encode(['newest', '2026-01-01T00:00:00.000Z', 'a'], -20)],
    ['a position that is not an integer', encode(['newest', '2026-01-01T00:00:00.000Z', 'a'], 1.5)],
    ['an enormous position', encode(['newest', '2026-01-01T00:00:00.000Z', 'a'], 1e10)],
  ])('a forged cursor (%s) is rejected with 400 bad_cursor', async (_what, cursor) => {
    expectProblem(await on.site.ask.get(listAddress({ cursor })), 400, 'bad_cursor');
  });

  test('a cursor of more than 512 characters is rejected with 400', async () => {
    expectProblem(await on.site.ask.get(listAddress({ cursor: 'a'.repeat(513) })), 400, 'bad_request', /cursor/);
  });
});

function encode(content: unknown, position = 20): string {
  return `${Buffer.from(JSON.stringify(content)).toString('base64url')}.${position}`;
}
