import { beforeEach, describe, expect, test } from 'vitest';
import { bodyOf, type CacheHarness, change, createCacheHarness } from '../../../tests/support/response-cache.ts';
import { createResponseSource as source } from '../../../tests/support/response-source.ts';
import { CoreError } from '../../core/core-error.ts';
import { API_FRESHNESS } from './cached-response.ts';
import type { ResponseCache } from './response-cache.ts';

let harness: CacheHarness;
let cache: ResponseCache;
function use(options?: Parameters<typeof createCacheHarness>[0]): void {
  harness = createCacheHarness(options);
  ({ cache } = harness);
}
beforeEach(() => use());

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
    expect(page.made).toBe(1);
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
});
