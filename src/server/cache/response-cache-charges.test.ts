import { beforeEach, describe, expect, test } from 'vitest';
import { bodyOf, cache, change, harness, hold, useCache } from '../../../tests/support/response-cache-harness.ts';
import { createResponseSource as source } from '../../../tests/support/response-source.ts';
import { CoreError } from '../../core/core-error.ts';
import { API_FRESHNESS } from './cached-response.ts';

beforeEach(() => useCache());

describe('charges', () => {
  const refused = new CoreError('rate_limited', 'Too many requests');
  const reasons: string[] = [];
  const charge = (reason: string) => void reasons.push(reason);
  const refuse = () => {
    throw refused;
  };
  beforeEach(() => {
    reasons.length = 0;
  });

  test('a client is charged once for each version that its request causes, and never for a hit', async () => {
    const page = source('git');
    await Promise.all([cache.get(page.request(undefined, charge)), cache.get(page.request(undefined, charge))]);
    await cache.get(page.request(undefined, charge));
    expect(reasons).toEqual(['miss']);
    await harness.advance(300);
    cache.invalidate(change('git'));
    await cache.get(page.request(undefined, charge));
    await cache.get(page.request(harness.clockMs(), charge));
    expect(reasons).toEqual(['miss', 'stale']);
    await harness.advance(10);
    await cache.get(page.request(harness.clockMs(), charge));
    expect(reasons).toEqual(['miss', 'stale', 'claim']);
  });

  test('if the charge is refused, a stale version is served, and a miss or an expired version fails', async () => {
    const page = source('git');
    await expect(async () => cache.get(page.request(undefined, refuse))).rejects.toBe(refused);
    await cache.get(page.request());
    await harness.advance(300);
    cache.invalidate(change('git'));
    expect(await bodyOf(cache.get(page.request(undefined, refuse)))).toBe('git version 1');
    await harness.advance(1_000);
    expect(() => cache.get(page.request(undefined, refuse))).toThrow(refused);
    expect(page.produced).toBe(1);
  });

  test('if the charge for a claimed recent write is refused, the shared response is served', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(10);
    expect(await bodyOf(cache.get(page.request(harness.clockMs(), refuse)))).toBe('git version 1');
  });

  test('an API search is charged again once the cached response is stale', async () => {
    const search = source('/api/products?q=git', { freshness: API_FRESHNESS });
    await cache.get(search.request(undefined, charge));
    cache.invalidateAll();
    await cache.get(search.request(undefined, charge));
    expect(reasons).toEqual(['miss', 'expired']);
    cache.invalidateAll();
    expect(() => cache.get(search.request(undefined, refuse))).toThrow(refused);
  });

  test('a refusal of one client while a response is produced does not affect other clients, which are charged separately', async () => {
    const page = source('git');
    const overLimit = () => bodyOf(cache.get({ ...page.request(), produce: () => Promise.reject(refused) }));
    const [first, second] = [overLimit(), overLimit()];
    const others = [1, 2].map(() => bodyOf(cache.get(page.request(undefined, charge))));
    const last = bodyOf(cache.get(page.request(undefined, refuse)));
    await expect(first).rejects.toBe(refused);
    await expect(second).rejects.toBe(refused);
    expect(await Promise.all([...others, last])).toEqual(['git version 1', 'git version 1', 'git version 1']);
    expect(reasons).toEqual(['miss']);
  });

  describe('visitors who wrote while another visitor revalidated the page', () => {
    /** Requests a page for visitors who wrote while its second version was rendered. @returns page and bodies. */
    async function shareOlder(...charges: (typeof charge | typeof refuse)[]) {
      const page = source('git');
      await cache.get(page.request());
      await harness.advance(10);
      const finish = hold(page);
      const first = cache.get(page.request(harness.clockMs(), charge));
      await harness.advance(1);
      const later = charges.map((each) => bodyOf(cache.get(page.request(harness.clockMs(), each))));
      expect(reasons).toEqual(['claim']);
      finish();
      await first;
      return { page, bodies: await Promise.all(later) };
    }

    test('however many visitors wrote during a revalidation, the next version causes one charge', async () => {
      const { page, bodies } = await shareOlder(charge, charge, charge);
      expect(bodies).toEqual(['git version 3', 'git version 3', 'git version 3']);
      expect([page.produced, reasons]).toEqual([3, ['claim', 'claim']]);
    });

    test('visitors who wrote during a revalidation get its version if their charges are refused', async () => {
      const { page, bodies } = await shareOlder(refuse, refuse);
      expect([page.produced, bodies]).toEqual([2, ['git version 2', 'git version 2']]);
    });

    test('if the charge of one visitor is refused, the next visitor still sees their own write', async () => {
      const { page, bodies } = await shareOlder(refuse, charge, charge);
      expect([page.produced, bodies]).toEqual([3, ['git version 2', 'git version 3', 'git version 3']]);
      expect(reasons).toEqual(['claim', 'claim']);
    });

    test('if the charge is refused and the revalidation failed, the request fails with the same error', async () => {
      const page = source('git');
      page.fails = new CoreError('product_not_found', 'Product not found');
      const finish = hold(page);
      const first = bodyOf(cache.get(page.request()));
      await harness.advance(1);
      const later = bodyOf(cache.get(page.request(harness.clockMs(), refuse)));
      finish();
      await expect(first).rejects.toBe(page.fails);
      await expect(later).rejects.toBe(page.fails);
      expect(page.produced).toBe(1);
    });
  });

  test('a search that must be repeated after a change is charged, and fails if the charge is refused', async () => {
    const search = source('/api/products?q=git', { freshness: API_FRESHNESS });
    for (const each of [charge, refuse]) {
      const finish = hold(search);
      cache.invalidateAll();
      const first = bodyOf(cache.get(search.request()));
      cache.invalidateAll();
      const later = bodyOf(cache.get(search.request(undefined, each)));
      finish();
      await first;
      if (each === charge) expect(await later).toBe('/api/products?q=git version 2');
      else await expect(later).rejects.toBe(refused);
    }
    expect([search.produced, reasons]).toEqual([3, ['expired']]);
  });
});
