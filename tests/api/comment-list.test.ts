import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Comment, CommentPage } from '../../src/contract/comments/schema.ts';
import { startDiscussedSite } from '../support/discussed-site.ts';
import { expectProblem } from '../support/expect-problem.ts';

const on = startDiscussedSite();
const { clock, list, add, setLikes } = on;

describe('GET /api/products/:id/comments (api.md, Comments; SPEC section 2, Comments section)', () => {
  test('a product without comments has an empty list', async () => {
    expect(await list()).toEqual({ items: [], total: 0, nextCursor: null });
  });

  test('best, the default, sorts by likes and then newest first, and newest and oldest sort by time', async () => {
    const made: Comment[] = [];
    for (const content of ['1', '2', '3', '4']) {
      made.push(await add(content));
      clock.advance({ milliseconds: 1 });
    }
    const [one, , three] = made;
    await setLikes(one?.id ?? '', 5);
    await setLikes(three?.id ?? '', 5);
    const order = async (query: string) => (await list(query)).items.map(({ content }) => content).join('');
    expect(await order('')).toBe('3142');
    expect(await order('?sort=best')).toBe('3142');
    expect(await order('?sort=newest')).toBe('4321');
    expect(await order('?sort=oldest')).toBe('1234');
  });

  test.each(['best', 'newest', 'oldest'])(
    'with sort=%s, all pages together contain every comment exactly once despite ties, and total counts all of them',
    async (sort) => {
      // The clock does not advance, so only likes and ids distinguish the comments.
      const made = await Promise.all(Array.from({ length: 31 }, (_, index) => add(`${index}`)));
      for (const [index, { id }] of made.entries()) await setLikes(id, index % 3);
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: CommentPage = await list(`?sort=${sort}&limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(page.total).toBe(31);
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      expect([...seen].sort()).toEqual(made.map(({ id }) => id).sort());
      const whole = await list(`?sort=${sort}&limit=100`);
      expect(seen).toEqual(whole.items.map(({ id }) => id));
    },
  );

  test('a page has 30 comments by default and at most 100', async () => {
    await Promise.all(Array.from({ length: 31 }, (_, index) => add(`${index}`)));
    expect((await list()).items).toHaveLength(30);
    expect((await list('?limit=100')).items).toHaveLength(31);
  });

  test('comments of other products are not in the list', async () => {
    await add('Here');
    const elsewhere = await on.site.addProduct({ id: `p-${randomUUID()}` });
    expect(await list('', elsewhere.id)).toEqual({ items: [], total: 0, nextCursor: null });
  });

  test.each(['0', '101', '-1', 'x', '1.5'])('limit=%s is rejected with 400 and names the parameter', async (limit) => {
    expectProblem(
      await on.site.ask.get(`/api/products/${on.productId}/comments?limit=${limit}`),
      400,
      'bad_request',
      /limit/,
    );
  });

  test.each(['top', 'BEST', ''])('sort=%s is rejected with 400 and names the valid values', async (sort) => {
    const response = await on.site.ask.get(`/api/products/${on.productId}/comments?sort=${sort}`);
    expectProblem(response, 400, 'bad_request', /best.*newest.*oldest/);
  });

  test('a cursor that is forged, truncated or from another sort order or list is rejected with 400 bad_cursor', async () => {
    await Promise.all(['a', 'b'].map(add));
    await on.site.addProduct();
    const own = (await list('?sort=best&limit=1')).nextCursor ?? '';
    const products = await on.site.ask.json<{ nextCursor: string }>('/api/products?limit=1');
    for (const cursor of ['forged', own.slice(0, -6), own, products.nextCursor]) {
      const response = await on.site.ask.get(`/api/products/${on.productId}/comments?sort=newest&cursor=${cursor}`);
      expectProblem(response, 400, 'bad_cursor');
    }
  });

  test.each(['nobody', 'X', '%00', 'x'.repeat(65), "'%20OR%20'1'='1", ''])(
    "the list of the unknown product '%s' returns 404 Product not found",
    async (id) => {
      const response = await on.site.ask.get(`/api/products/${id}/comments`);
      expectProblem(response, 404, 'product_not_found', 'Product not found');
    },
  );

  test('a stored comment without an author is by Anonymous, with the default avatar and no badge', async () => {
    await on.site.database.query("INSERT INTO comments (id, product_id, content) VALUES ($1::uuid, $2, 'x')", [
      randomUUID(),
      on.productId,
    ]);
    expect((await list()).items[0]).toMatchObject({
      authorName: 'Anonymous',
      authorAvatar: '/pictures/avatar-default.svg',
      authorBadge: null,
      likes: 0,
    });
  });
});
