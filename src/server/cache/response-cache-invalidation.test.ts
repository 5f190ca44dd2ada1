import { beforeEach, describe, expect, test } from 'vitest';
import {
  bodyOf,
  cache,
  change,
  harness,
  hold,
  runPendingTasks,
  useCache,
} from '../../../tests/support/response-cache-harness.ts';
import { createResponseSource as source } from '../../../tests/support/response-source.ts';
import { API_FRESHNESS, type Dependencies, type Version } from './cached-response.ts';
import { type Entry, EntryStore } from './entry-store.ts';
import type { ResponseCache } from './response-cache.ts';

beforeEach(() => useCache());

describe('invalidation', () => {
  test.each<[string, Partial<Dependencies>, Parameters<ResponseCache['invalidate']>[0], number]>([
    ['a change of a product invalidates a response that shows the product', {}, change('git'), 2],
    ['a change of a product does not invalidate a response that shows only other products', {}, change('vim'), 1],
    ['a change of any product invalidates a list ordered by counts', { allCounts: true }, change('vim'), 2],
    [
      'a change to the catalogue invalidates a response that depends on the catalogue',
      { catalogue: true },
      { productIds: [], catalogue: true },
      2,
    ],
    [
      'a change to the catalogue does not invalidate a response that depends only on a product',
      {},
      { productIds: [], catalogue: true },
      1,
    ],
  ])('%s', async (_name, dependencies, what, produced) => {
    const response = source('git', { freshness: API_FRESHNESS, dependencies });
    await cache.get(response.request());
    cache.invalidate(what);
    await cache.get(response.request());
    expect(response.produced).toBe(produced);
  });

  test('a page without a new launch is served for at most a second after the launch itself, not after its announcement', async () => {
    const page = source('/', { dependencies: { catalogue: true } });
    await cache.get(page.request());
    await harness.advance(200);
    cache.invalidate({ productIds: ['launched'], catalogue: true, ageMs: 200 });
    await harness.advance(900);
    expect(await bodyOf(cache.get(page.request()))).toBe('/ version 2');
  });

  test('all responses are invalidated if a change may have been missed', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidateAll();
    await cache.get(response.request());
    expect(response.produced).toBe(2);
  });
});

describe('a list that depends on all counts', () => {
  const dependencies = { products: [], catalogue: false, allCounts: true, unfinished: false };

  test('a further change during the revalidation of a list is in the next response', async () => {
    const list = source('list', { freshness: API_FRESHNESS, dependencies });
    await cache.get(list.request());
    cache.invalidate(change('git'));
    const release = hold(list);
    const second = cache.get(list.request());
    await runPendingTasks();
    cache.invalidate(change('git'));
    release();
    await second;
    expect(await bodyOf(cache.get(list.request()))).toBe('list version 3');
  });

  test('a further change does not update a list that is already stale', () => {
    const store = new EntryStore(1_000);
    const version = { head: { dependencies }, content: { sizeBytes: 1 } } as unknown as Version;
    const entry: Entry = { key: '/?sort=top', state: { kind: 'fresh', version, changedTick: 0 }, maxStaleMs: 0 };
    store.set(entry);
    store.invalidate(change('git'), 1);
    const { state } = entry;
    expect(state).toMatchObject({ kind: 'stale', changedTick: 1 });
    store.invalidate(change('git'), 2);
    expect(entry.state).toBe(state);
  });
});

describe('a change during the revalidation of a list that a product enters', () => {
  /** Produces a list, then starts its revalidation with one more product. `finish` completes the revalidation. */
  async function startSecond() {
    const dependencies = { products: ['git'], catalogue: true };
    const list = source('list', { freshness: API_FRESHNESS, dependencies });
    await cache.get(list.request());
    dependencies.products = ['vim', 'git'];
    cache.invalidate({ productIds: ['vim'], catalogue: true });
    const release = hold(list);
    const second = cache.get(list.request());
    await runPendingTasks();
    const finish = () => {
      release();
      return second;
    };
    return { list, finish };
  }

  test('a change of a product while a revalidation adds it to a list is in the next response', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('vim'));
    await finish();
    expect(await bodyOf(cache.get(list.request()))).toBe('list version 3');
  });

  test('a request right after a change of a product that is being added to a list gets the change', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('vim'));
    const late = cache.get(list.request());
    await finish();
    expect(await bodyOf(late)).toBe('list version 3');
  });

  test('changes of a product outside a list cause at most one further revalidation of the list', async () => {
    const { list, finish } = await startSecond();
    cache.invalidate(change('make'));
    await finish();
    for (let requests = 0; requests < 5; requests += 1) {
      const release = hold(list);
      const served = cache.get(list.request());
      await runPendingTasks();
      cache.invalidate(change('make'));
      release();
      await served;
    }
    expect(list.produced).toBeLessThanOrEqual(3);
  });
});

test('memory is bounded: the least recently used responses are evicted first', async () => {
  // Three quarters of this size hold five of the six responses; the rest is reserved for URLs with parameters.
  const maxBytes = 32_800;
  useCache({ maxBytes });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const sources = new Map(names.map((name) => [name, source(name)]));
  for (const name of names) {
    await cache.get(sources.get(name)?.request() ?? expect.unreachable());
    await cache.get(sources.get('a')?.request() ?? expect.unreachable());
    expect(cache.sizeBytes()).toBeLessThanOrEqual(maxBytes);
  }
  await cache.get(sources.get('b')?.request() ?? expect.unreachable());
  expect(sources.get('a')?.produced).toBe(1);
  expect(sources.get('b')?.produced).toBe(2);
});

test('responses of URLs with arbitrary parameters evict only each other', async () => {
  useCache({ maxBytes: 100_000 });
  const page = source('/product/git');
  await cache.get(page.request());
  for (let number = 0; number < 100; number += 1) await cache.get(source(`/?cursor=${number}`).request());
  expect(cache.sizeBytes()).toBeLessThan(40_000);
  await cache.get(page.request());
  expect(page.produced).toBe(1);
});
