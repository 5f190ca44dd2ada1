import { describe, expect, test } from 'vitest';
import { exampleComment, exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Standing, Standings } from '../../../contract/leaderboards/schema.ts';
import { ApiError } from '../../api/http-api.ts';
import { readVisitNews, type VisitMemory } from './visit-news.ts';

const SINCE = Date.parse('2026-03-01T12:00:00.000Z');
const NOW = SINCE + 24 * 3_600_000;
const at = (hours: number) => new Date(SINCE + hours * 3_600_000).toISOString();

function standings(windowEndsAt: string): Standings {
  const day = { rank: 2, windowEndsAt } as Standing;
  return { day, week: day, month: day, year: day };
}

/** Returns a function that reads the news from a fake API, and the calls that the API received. */
function site(given: Partial<Parameters<typeof readVisitNews>[0]> = {}) {
  const asked: string[] = [];
  const noted = <Result>(what: string, result: Result): Promise<Result> => {
    asked.push(what);
    return Promise.resolve(result);
  };
  const api: Parameters<typeof readVisitNews>[0] = {
    listProducts: () => noted('list', { items: [], nextCursor: null }),
    getProduct: (id) => noted(`product ${id}`, { product: exampleProduct({ id }), previousId: null, nextId: null }),
    getStandings: (id) => noted(`standing ${id}`, standings(at(1))),
    listComments: (id) => noted(`comments ${id}`, { items: [], total: 0, nextCursor: null }),
    ...given,
  };
  const read = (memory: Partial<VisitMemory>, now = NOW) =>
    readVisitNews(api, { upvoted: [], commentedOn: [], ownComments: [], ...memory }, { since: SINCE, now });
  return { asked, read };
}

describe('what happened since the last visit', () => {
  test('includes the products launched since then, at most five', async () => {
    const items = [30, 5, 4, 3, 2, 1, 0.5, 0, -1].map((hours) =>
      exampleProduct({ id: `at-${hours}`, createdAt: at(hours) }),
    );
    const { read } = site({ listProducts: async () => ({ items, nextCursor: null }) });
    expect((await read({})).launched.map(({ id }) => id)).toEqual(['at-5', 'at-4', 'at-3', 'at-2', 'at-1']);
  });

  test('includes upvoted launches whose voting window ended since then', async () => {
    const ends: Record<string, string> = { before: at(-1), ended: at(1), running: at(25) };
    const { read, asked } = site({ getStandings: async (id) => standings(ends[id] ?? '') });
    const { ended } = await read({ upvoted: ['running', 'ended', 'before'] });
    expect(ended).toMatchObject([{ product: { id: 'ended' }, standing: { rank: 2 } }]);
    expect(asked, 'only products that are shown are read').toEqual(['list', 'product ended']);
  });

  test('includes new comments of others on products that the visitor commented on', async () => {
    const items = [
      exampleComment({ id: 'other', createdAt: at(2) }),
      exampleComment({ id: 'own', createdAt: at(1) }),
      exampleComment({ id: 'old', createdAt: at(-1) }),
    ];
    const { read } = site({ listComments: async () => ({ items, total: 3, nextCursor: null }) });
    expect((await read({ commentedOn: ['harbour'], ownComments: ['own'] })).commented).toMatchObject([
      { product: { id: 'harbour' }, comments: 1 },
    ]);
    expect((await read({ commentedOn: ['harbour'], ownComments: ['own', 'other'] })).commented).toEqual([]);
  });

  test('counts up to 100 comments, and tells whether there are more', async () => {
    const comments = (count: number) => Array.from({ length: count }, () => exampleComment({ createdAt: at(1) }));
    const { read } = site({
      listComments: async (id, { limit = 0 } = {}) => {
        const items = comments(Number(id));
        return { items: items.slice(0, limit), total: items.length, nextCursor: items.length > limit ? 'more' : null };
      },
    });
    expect((await read({ commentedOn: ['45', '100', '101'] })).commented).toMatchObject([
      { comments: 45, hasMore: false },
      { comments: 100, hasMore: false },
      { comments: 100, hasMore: true },
    ]);
  });

  test('is empty if the clock was set back to before the last visit', async () => {
    const items = [exampleProduct({ createdAt: at(-1) }), exampleProduct({ createdAt: at(1) })];
    const { read } = site({ listProducts: async () => ({ items, nextCursor: null }) });
    expect(await read({ upvoted: ['harbour'] }, SINCE - 1)).toEqual({ launched: [], ended: [], commented: [] });
  });
});

describe('the requests for visit news', () => {
  const MANY = Array.from({ length: 50 }, (_, index) => `p-${index}`);

  test('are limited in number, however much the browser has stored', async () => {
    const { read, asked } = site();
    expect((await read({ upvoted: MANY, commentedOn: MANY })).ended).toHaveLength(4);
    expect(asked).toHaveLength(13);
  });

  test('continue after a product that no longer exists, and end if the server cannot be reached', async () => {
    const missing = site({
      getStandings: async (id) => (id === 'gone' ? null : standings(at(1))),
      listComments: async () => Promise.reject(new ApiError(404, 'product_not_found', 'Product not found')),
    });
    const { ended, commented } = await missing.read({ upvoted: ['gone', 'there'], commentedOn: ['gone'] });
    expect(ended).toMatchObject([{ product: { id: 'there' } }]);
    expect(commented).toEqual([]);
    const offline = site({ getStandings: () => Promise.reject(new ApiError(0, 'network', 'Out of reach')) });
    await expect(offline.read({ upvoted: MANY })).rejects.toMatchObject({ code: 'network' });
    expect(offline.asked).toEqual(['list']);
  });

  test.each([429, 503])('end with an error if the server answers %s, so the news is not incomplete', async (status) => {
    const refused = () => Promise.reject(new ApiError(status, 'refused', 'Try again later'));
    for (const given of [{ getStandings: refused }, { listComments: refused }, { getProduct: refused }]) {
      await expect(site(given).read({ upvoted: ['a'], commentedOn: ['a'] })).rejects.toMatchObject({ status });
    }
  });
});
