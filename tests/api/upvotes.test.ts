import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProductDetail } from '../../src/contract/products/schema.ts';
import type { Upvoted, UpvoteState } from '../../src/contract/upvotes/schema.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { BAD_SESSIONS, GOOD_SESSIONS } from '../support/sessions.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
/** A second site on the same database, which acts like another process. */
let other: TestSite;

beforeAll(async () => {
  site = await startTestSite();
  other = await startTestSite({ databaseOf: site });
});

afterAll(async () => {
  await other.close();
  await site.close();
});

const newProduct = async () => (await site.addProduct({ id: `p-${randomUUID()}` })).id;
const shown = async (id: string) => (await site.ask.json<ProductDetail>(`/api/products/${id}`)).product.upvotes;
const rows = (id: string) => site.database.query('SELECT id FROM upvotes WHERE product_id = $1', [id]);
const upvoted = (ids: readonly string[], visitor: Record<string, string>) =>
  site.ask.json<Upvoted>(`/api/upvotes?products=${ids.join(',')}`, visitor);

describe('PUT and DELETE /api/products/:id/upvote (api.md, Upvotes; SPEC section 4)', () => {
  test('PUT adds the upvote of the session, and DELETE withdraws it', async () => {
    const id = await newProduct();
    const visitor = newVisitor();
    const added = await site.ask.put(`/api/products/${id}/upvote`, visitor);
    expect([added.statusCode, added.json()]).toEqual([200, { upvoted: true, upvotes: 1 }]);
    expect(await shown(id)).toBe(1);
    const removed = await site.ask.delete(`/api/products/${id}/upvote`, visitor);
    expect([removed.statusCode, removed.json()]).toEqual([200, { upvoted: false, upvotes: 0 }]);
    expect(await shown(id)).toBe(0);
    expect(await rows(id)).toEqual([]);
  });

  test('PUT and DELETE are idempotent, so a repeated request changes no rows and returns the same response', async () => {
    const id = await newProduct();
    const visitor = newVisitor();
    await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
    for (const _again of [1, 2, 3]) {
      expect((await site.ask.put(`/api/products/${id}/upvote`, visitor)).json()).toEqual({ upvoted: true, upvotes: 2 });
    }
    for (const _again of [1, 2, 3]) {
      const response = await site.ask.delete(`/api/products/${id}/upvote`, visitor);
      expect(response.json()).toEqual({ upvoted: false, upvotes: 1 });
    }
    expect(await rows(id)).toHaveLength(1);
  });

  test('each session counts once per product', async () => {
    const [one, two] = [await newProduct(), await newProduct()];
    for (const visitor of [newVisitor(), newVisitor(), newVisitor()]) {
      await site.ask.put(`/api/products/${one}/upvote`, visitor);
    }
    await site.ask.put(`/api/products/${two}/upvote`, newVisitor());
    expect([await shown(one), await shown(two)]).toEqual([3, 1]);
  });

  test.each(['application/json', 'application/x-www-form-urlencoded', 'text/plain'])(
    'an empty body of type %s counts as no body',
    async (type) => {
      const url = `/api/products/${await newProduct()}/upvote`;
      for (const length of [{}, { 'content-length': '0' }]) {
        const headers = { ...newVisitor(), ...length, 'content-type': type };
        expect((await site.ask.put(url, headers)).statusCode).toBe(200);
        expect((await site.ask.delete(url, headers)).statusCode).toBe(200);
      }
    },
  );

  test('a form is rejected with 415', async () => {
    const url = `/api/products/${await newProduct()}/upvote`;
    const headers = { ...newVisitor(), 'content-type': 'application/x-www-form-urlencoded' };
    for (const framing of [{}, { 'transfer-encoding': 'chunked' }]) {
      const request = { method: 'PUT', url, headers: { ...headers, ...framing }, payload: 'a=b' } as const;
      expectProblem(await site.app.inject(request), 415, 'unsupported_media_type');
    }
  });

  test('the response is not cacheable', async () => {
    const id = await newProduct();
    for (const method of ['put', 'delete'] as const) {
      const response = await site.ask[method](`/api/products/${id}/upvote`, newVisitor());
      expect(response.headers['cache-control']).toBe('no-store');
    }
  });

  for (const method of ['put', 'delete'] as const) {
    test.each(['nobody', "x'%20OR%20'1'='1", 'X', 'x'.repeat(65), '%00', '__proto__', ''])(
      `${method.toUpperCase()} on the unknown product '%s' returns 404 Product not found`,
      async (id) => {
        const response = await site.ask[method](`/api/products/${id}/upvote`, newVisitor());
        expectProblem(response, 404, 'product_not_found', 'Product not found');
      },
    );

    test.each(BAD_SESSIONS)(`${method.toUpperCase()} with a session that is %s returns 400`, async (_what, headers) => {
      const id = await newProduct();
      expectProblem(await site.ask[method](`/api/products/${id}/upvote`, headers), 400, 'session_required');
      expect(await rows(id)).toEqual([]);
    });
  }

  test.each(GOOD_SESSIONS)('a session that is %s may upvote (SPEC section 3)', async (_what, headers) => {
    const id = await newProduct();
    expect((await site.ask.put(`/api/products/${id}/upvote`, headers)).json()).toEqual({ upvoted: true, upvotes: 1 });
  });

  test('a removed product loses its upvotes', async () => {
    const id = await newProduct();
    const visitor = newVisitor();
    await site.ask.put(`/api/products/${id}/upvote`, visitor);
    await site.database.query('DELETE FROM products WHERE id = $1', [id]);
    expectProblem(await site.ask.delete(`/api/products/${id}/upvote`, visitor), 404, 'product_not_found');
    expect(await upvoted([id], visitor)).toEqual({ upvoted: [] });
  });
});

describe('concurrent upvotes, whose counts change in the same transaction as the rows', () => {
  test('100 sessions that upvote, withdraw and upvote again through two processes count 100 times', async () => {
    const id = await newProduct();
    const address = `/api/products/${id}/upvote`;
    const responses = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const { ask } = index % 2 === 0 ? site : other;
        const visitor = newVisitor();
        await ask.put(address, visitor);
        await ask.delete(address, visitor);
        return ask.put(address, visitor);
      }),
    );
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(responses.map(() => 200));
    expect(responses.every((response) => response.json<UpvoteState>().upvoted)).toBe(true);
    expect(await rows(id)).toHaveLength(100);
    expect(await shown(id)).toBe(100);
  });

  test('one session that simultaneously sends the same change to two processes counts once, in every response', async () => {
    for (const _round of Array.from({ length: 20 })) {
      const id = await newProduct();
      const visitor = newVisitor();
      const setAll = (method: 'put' | 'delete') =>
        Promise.all([site, other, site, other].map(({ ask }) => ask[method](`/api/products/${id}/upvote`, visitor)));
      for (const response of await setAll('put')) expect(response.json()).toEqual({ upvoted: true, upvotes: 1 });
      expect([await shown(id), (await rows(id)).length]).toEqual([1, 1]);
      for (const response of await setAll('delete')) expect(response.json()).toEqual({ upvoted: false, upvotes: 0 });
      expect([await shown(id), (await rows(id)).length]).toEqual([0, 0]);
    }
  });

  test('one session that toggles rapidly leaves a count that matches the rows', async () => {
    const id = await newProduct();
    const visitor = newVisitor();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 3 === 0 ? other : site).ask[index % 2 === 0 ? 'put' : 'delete'](`/api/products/${id}/upvote`, visitor),
      ),
    );
    expect(await shown(id)).toBe((await rows(id)).length);
  });

  test('an acknowledged upvote shows immediately in another process', async () => {
    const id = await newProduct();
    await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
    expect((await other.ask.json<ProductDetail>(`/api/products/${id}`)).product.upvotes).toBe(1);
  });
});

describe('GET /api/upvotes (api.md, Upvotes)', () => {
  test('returns the products that this session has upvoted, but not those of other sessions', async () => {
    const [one, two, three] = [await newProduct(), await newProduct(), await newProduct()];
    const [me, somebody] = [newVisitor(), newVisitor()];
    await site.ask.put(`/api/products/${one}/upvote`, me);
    await site.ask.put(`/api/products/${three}/upvote`, me);
    await site.ask.put(`/api/products/${two}/upvote`, somebody);
    expect(await upvoted([one, two, three], me)).toEqual({ upvoted: [one, three] });
    expect(await upvoted([one, two, three], somebody)).toEqual({ upvoted: [two] });
    expect(await upvoted([one, two, three], newVisitor())).toEqual({ upvoted: [] });
    expect(await upvoted([two, three], me)).toEqual({ upvoted: [three] });
  });

  test('omits unknown, invalid, empty and repeated ids', async () => {
    const id = await newProduct();
    const me = newVisitor();
    await site.ask.put(`/api/products/${id}/upvote`, me);
    expect(await upvoted(['', id, 'nobody', "'%20OR%201=1--", '%00', id, ''], me)).toEqual({ upvoted: [id] });
    expect(await upvoted([], me)).toEqual({ upvoted: [] });
  });

  test('accepts 100 products, and rejects 101 with 400', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `p${index}`);
    expect(await upvoted(ids.slice(1), newVisitor())).toEqual({ upvoted: [] });
    expectProblem(
      await site.ask.get(`/api/upvotes?products=${ids.join(',')}`, newVisitor()),
      400,
      'too_many_products',
      /100/,
    );
  });

  test('returns 400 without the parameter, and names it', async () => {
    expectProblem(await site.ask.get('/api/upvotes', newVisitor()), 400, 'bad_request', /products/);
  });

  test.each(BAD_SESSIONS)('returns 400 for a session that is %s', async (_what, headers) => {
    expectProblem(await site.ask.get('/api/upvotes?products=a', headers), 400, 'session_required');
  });

  test('is not cacheable and has no ETag, because the response is for one visitor only', async () => {
    const { headers } = await site.ask.get('/api/upvotes?products=a', newVisitor());
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
  });
});
