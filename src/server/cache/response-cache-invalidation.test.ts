import { beforeEach, describe, expect, test } from 'vitest';
import {
  bodyOf,
  type CacheHarness,
  change,
  createCacheHarness,
  hold,
  settled,
} from '../../../tests/support/response-cache.ts';
import { createResponseSource as source } from '../../../tests/support/response-source.ts';
import { API_FRESHNESS, type Dependencies } from './cached-response.ts';
import type { ResponseCache } from './response-cache.ts';

let harness: CacheHarness;
let cache: ResponseCache;
function use(options?: Parameters<typeof createCacheHarness>[0]): void {
  harness = createCacheHarness(options);
  ({ cache } = harness);
}
beforeEach(() => use());

describe('a change', () => {
  test.each<[string, Partial<Dependencies>, Parameters<ResponseCache['invalidate']>[0], number]>([
    ['of a product invalidates a response that shows it', {}, change('git'), 2],
    ['of a product does not invalidate a response that does not show it', {}, change('vim'), 1],
    ['of any product invalidates a list ordered by counts', { allCounts: true }, change('vim'), 2],
    [
      'of the catalogue invalidates a response that depends on it',
      { catalogue: true },
      { productIds: [], catalogue: true },
      2,
    ],
    [
      'of the catalogue does not invalidate a response that does not depend on it',
      {},
      { productIds: [], catalogue: true },
      1,
    ],
  ])('%s', async (_name, dependencies, what, made) => {
    const response = source('git', { freshness: API_FRESHNESS, dependencies });
    await cache.get(response.request());
    cache.invalidate(what);
    await cache.get(response.request());
    expect(response.made).toBe(made);
  });

  test('that may have been missed invalidates all responses', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidateAll();
    await cache.get(response.request());
    expect(response.made).toBe(2);
  });
});

describe('a change during the revalidation of a list that a product enters', () => {
  /** Produces a list, and begins to produce it again with a further product. `finish` completes this revalidation. */
  async function startSecond() {
    const dependencies = { products: ['git'], catalogue: true };
    const list = source('list', { freshness: API_FRESHNESS, dependencies });
    await cache.get(list.request());
    dependencies.products = ['vim', 'git'];
    cache.invalidate({ productIds: ['vim'], catalogue: true });
    const release = hold(list);
    const second = cache.get(list.request());
    await settled();
    const finish = () => {
      release();
      return second;
    };
    return { list, finish };
  }

  test('is included in the next response if it concerns that product', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('vim'));
    await finish();
    expect(await bodyOf(cache.get(list.request()))).toBe('list version 3');
  });

  test('is included in the response of a request that arrives after it', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('vim'));
    const late = cache.get(list.request());
    await finish();
    expect(await bodyOf(late)).toBe('list version 3');
  });

  test('causes at most one further revalidation if it concerns a product outside of the list', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('make'));
    await finish();
    for (let requests = 0; requests < 5; requests += 1) {
      const release = hold(list);
      const served = cache.get(list.request());
      await settled();
      cache.invalidate(change('make'));
      release();
      await served;
    }
    expect(list.made).toBeLessThanOrEqual(3);
  });
});

test('memory is bounded: the least recently used responses are evicted first', async () => {
  // Room for five of the six responses. A quarter of the cache is reserved for URLs with parameters.
  const maxBytes = 32_800;
  use({ maxBytes });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const sources = new Map(names.map((name) => [name, source(name)]));
  for (const name of names) {
    await cache.get(sources.get(name)?.request() ?? expect.unreachable());
    await cache.get(sources.get('a')?.request() ?? expect.unreachable());
    expect(cache.sizeBytes()).toBeLessThanOrEqual(maxBytes);
  }
  await cache.get(sources.get('b')?.request() ?? expect.unreachable());
  expect(sources.get('a')?.made).toBe(1);
  expect(sources.get('b')?.made).toBe(2);
});

test('URLs with invented parameters evict only each other', async () => {
  use({ maxBytes: 100_000 });
  const page = source('/product/git');
  await cache.get(page.request());
  for (let number = 0; number < 100; number += 1) await cache.get(source(`/?cursor=${number}`).request());
  expect(cache.sizeBytes()).toBeLessThan(40_000);
  await cache.get(page.request());
  expect(page.made).toBe(1);
});
