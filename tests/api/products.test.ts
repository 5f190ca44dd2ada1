import { describe, expect, test } from 'vitest';
import type { Product, ProductDetail, ProductPage } from '../../src/contract/products/schema.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { listAddress, startProductListSite } from '../support/product-list-site.ts';

const on = startProductListSite();
const { list, ids, addMany, setCounts } = on;

async function neighbours(id: string) {
  const { previousId, nextId } = await on.site.ask.json<ProductDetail>(`/api/products/${id}`);
  return [previousId, nextId];
}

describe('GET /api/products (api.md, Products)', () => {
  test('a list without products is empty and has no next page', async () => {
    expect(await list()).toEqual({ items: [], nextCursor: null });
  });

  test('a product has exactly its declared fields, with the stored values, and its counts', async () => {
    const product = await on.site.addProduct({
      id: 'wave-rider-2',
      name: 'Wave 🌊 Rider — שלום e\u0301 é ‮',
      description: 'Line one\r\nLine two\t<b>&amp;</b> \u200B👩‍👩‍👧‍👦 ｆｕｌｌ ﬁ',
      tags: ['C++', 'naïve', 'ひらがな', 'naïve'],
      category: 'Tools & Toys',
      maker: "O'Brien \\ Sons",
      launchDate: 'Spring 2026',
      team: [{ name: 'Ada "the first" Lovelace', avatar: '/a.svg', role: 'Maker' }],
      screenshots: ['/s1.png', 'https://example.com/s2.png?a=1&b=2'],
      createdAt: '2026-02-03T04:05:06.789Z',
    });
    expect((await list()).items).toEqual([{ ...product, upvotes: 0, comments: 0 }]);
  });

  test('a product with only an id shows every default of SPEC section 3', async () => {
    await on.site.addProduct({ name: undefined, description: undefined, id: 'bare' });
    expect((await list()).items[0]).toMatchObject({
      name: 'Untitled Product',
      description: 'No description available',
      image: '/pictures/placeholder.svg',
      tags: [],
      category: 'Uncategorized',
      maker: 'Unknown Maker',
      launchDate: 'Today',
      team: [],
      screenshots: [],
    });
  });

  test('a page has 30 products by default', async () => {
    await addMany(31);
    const { items, nextCursor } = await list();
    expect(items).toHaveLength(30);
    expect(nextCursor).toEqual(expect.any(String));
  });

  test.each([1, 100])('limit=%i, which is the smallest or largest limit, is accepted', async (limit) => {
    await addMany(101);
    expect((await list({ limit })).items).toHaveLength(limit);
  });

  test.each(['0', '101', '-1', '1.5', 'ten', '', '1e9', 'NaN', '10;DROP'])(
    'limit=%s is rejected with 400 bad_request and names the parameter',
    async (limit) => {
      expectProblem(await on.site.ask.get(listAddress({ limit })), 400, 'bad_request', /limit/);
    },
  );

  test.each(['best', '', 'TOP', 'constructor'])(
    'sort=%s is rejected with 400 bad_request and names the valid values',
    async (sort) => {
      expectProblem(await on.site.ask.get(listAddress({ sort })), 400, 'bad_request', /sort.*newest.*top.*discussed/);
    },
  );

  test.each(['q=a&q=b', 'sort=top&sort=newest', 'limit=1&limit=2', 'tag=a&tag=b', 'cursor=a&cursor=b'])(
    'a parameter that is given twice (%s) is rejected with 400 bad_request',
    async (query) => {
      expectProblem(await on.site.ask.get(`/api/products?${query}`), 400, 'bad_request');
    },
  );

  test('unknown parameters are ignored', async () => {
    await addMany(1);
    const page = await on.site.ask.json<ProductPage>('/api/products?utm_source=mail&__proto__=1&constructor=x');
    expect(page.items).toHaveLength(1);
  });
});

describe('the sort order (api.md, Products)', () => {
  test('newest sorts by creation time, latest first, and breaks ties by descending id', async () => {
    const createdAt = '2026-01-01T00:00:00.000Z';
    await on.site.addProduct({ id: 'b', createdAt });
    await on.site.addProduct({ id: 'c', createdAt: '2025-12-31T23:59:59.999Z' });
    await on.site.addProduct({ id: 'a', createdAt });
    await on.site.addProduct({ id: 'b-2', createdAt });
    expect(await ids()).toEqual(['b-2', 'b', 'a', 'c']);
    expect(await ids({ sort: 'newest' })).toEqual(['b-2', 'b', 'a', 'c']);
  });

  test('top sorts by upvotes and discussed by comments, highest first, and both break ties by descending id', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await on.site.addProduct({ id });
    await setCounts('a', { upvotes: 2, comments: 1 });
    await setCounts('b', { upvotes: 10, comments: 0 });
    await setCounts('c', { upvotes: 2, comments: 7 });
    expect(await ids({ sort: 'top' })).toEqual(['b', 'c', 'a', 'd']);
    expect(await ids({ sort: 'discussed' })).toEqual(['c', 'a', 'd', 'b']);
  });
});

describe('GET /api/products/:id (api.md, Products)', () => {
  test('returns the product with its counts', async () => {
    const product = await on.site.addProduct({ id: 'x' });
    await setCounts('x', { upvotes: 3, comments: 4 });
    expect(await on.site.ask.json('/api/products/x')).toEqual({
      product: { ...product, upvotes: 3, comments: 4 },
      previousId: null,
      nextId: null,
    });
  });

  test('returns the neighbours in the default list, or null at its ends, even for equal times', async () => {
    await addMany(9, (index) => ({
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 3))).toISOString(),
    }));
    const order = await ids();
    for (const [index, id] of order.entries()) {
      expect(await neighbours(id)).toEqual([order[index - 1] ?? null, order[index + 1] ?? null]);
    }
  });

  test.each([
    ['an unknown id', 'nobody'],
    ['an SQL condition', "'%20OR%20'1'='1"],
    ['an SQL statement', '%27%3B%20DROP%20TABLE%20products%3B--'],
    ['an id in upper case', 'X'],
    ['an id of 65 characters', 'x'.repeat(65)],
    ['an id of 1,000 characters', 'x'.repeat(1_000)],
    ['an id of 5,000 characters', 'x'.repeat(5_000)],
    ['a NUL', '%00'],
    ['an encoded slash', 'a%2Fb'],
    ['a path to a parent folder', '..%2F..%2Fetc'],
    ['a property that every object has', '__proto__'],
    ['no id', ''],
  ])('returns 404 Product not found for %s', async (_what, id) => {
    await on.site.addProduct({ id: 'x' });
    expectProblem(await on.site.ask.get(`/api/products/${id}`), 404, 'product_not_found', 'Product not found');
  });

  test('accepts an id of 64 characters, and one of digits and dashes', async () => {
    for (const id of ['x'.repeat(64), '-0-', '1']) {
      await on.site.addProduct({ id });
      expect((await on.site.ask.json<{ product: Product }>(`/api/products/${id}`)).product.id).toBe(id);
    }
  });
});
