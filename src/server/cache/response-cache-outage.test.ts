import { beforeEach, describe, expect, test } from 'vitest';
import {
  bodyOf,
  cache,
  change,
  harness,
  hold,
  runPendingTasks,
  textOf,
  useCache,
} from '../../../tests/support/response-cache-harness.ts';
import { createResponseSource as source } from '../../../tests/support/response-source.ts';
import { CoreError } from '../../core/core-error.ts';
import { API_FRESHNESS, type Freshness, PAGE_FRESHNESS } from './cached-response.ts';

const unavailable = new CoreError('unavailable', 'The database is unreachable');

beforeEach(() => useCache());

/** Advances the clock in small steps, as in a process that is never blocked. */
async function advanceSteadily(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await harness.advance(100);
}

describe('while responses cannot be produced', () => {
  test('the last good version is served with its age, while a new one is attempted once a second, and the log does not contain the query', async () => {
    const page = source('git?q=diary');
    await cache.get(page.request());
    cache.invalidate(change('git?q=diary'));
    page.fails = unavailable;
    await harness.advance(2_000);
    const stale = await cache.get(page.request());
    expect(textOf(stale)).toBe('git?q=diary version 1');
    expect(stale.ageS).toBe(2);
    expect(harness.warnings).toEqual([{ err: unavailable, key: 'git' }]);
    const triedBefore = page.produced;
    for (let asked = 0; asked < 50; asked += 1) await cache.get(page.request());
    expect(page.produced).toBe(triedBefore);
    page.fails = undefined;
    await harness.advance(1_000);
    expect((await cache.get(page.request())).ageS).toBeUndefined();
    expect(harness.warnings).toHaveLength(1);
  });

  test('a request without a cached response fails', async () => {
    const page = source('git');
    page.fails = unavailable;
    await expect(cache.get(page.request())).rejects.toBe(unavailable);
  });

  test('while the database hangs, the last good response is served after two seconds', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    response.hold = new Promise(() => {});
    const served = cache.get(response.request());
    await advanceSteadily(2_000);
    expect(await bodyOf(served)).toBe('git version 1');
  });

  test('if only this process was blocked, a request still gets the newer version', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    const release = hold(response);
    const served = cache.get(response.request());
    await harness.advance(60_000);
    release();
    expect(await bodyOf(served)).toBe('git version 2');
  });

  test('a request that waits is counted once, by the kind of response that it gets', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    await cache.get(response.request());
    await harness.advance(2_000);
    expect(cache.stats()).toEqual({ hit: 0, miss: 2, stale: 0 });
    cache.invalidate(change('git'));
    const release = hold(response);
    const served = cache.get(response.request());
    await advanceSteadily(2_000);
    await served;
    release();
    await runPendingTasks();
    expect(cache.stats()).toEqual({ hit: 0, miss: 2, stale: 1 });
  });

  test('while the change feed is disconnected, even an unchanged response carries its age', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.setConnected(false);
    await harness.advance(7_000);
    expect((await cache.get(page.request())).ageS).toBe(7);
    cache.setConnected(true);
    expect((await cache.get(page.request())).ageS).toBeUndefined();
  });

  test('the age of a response that was stale before the change feed was disconnected is counted from when it became stale', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.invalidate(change('git'));
    await harness.advance(500_000);
    cache.setConnected(false);
    await harness.advance(7_000);
    expect((await cache.get(page.request())).ageS).toBe(507);
  });

  test('while the change feed is disconnected, no request waits for a page whose rendering hangs', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.invalidate(change('git'));
    page.hold = new Promise(() => {});
    cache.setConnected(false);
    await harness.advance(7_000);
    for (const _ of ['first', 'second']) {
      const served = cache.get(page.request());
      expect(served).not.toBeInstanceOf(Promise);
      expect(await served).toMatchObject({ ageS: 7 });
    }
  });
});

describe('a response without one of its parts', () => {
  test('an incomplete response does not replace a complete one until the part has been missing for a minute', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.invalidate(change('git'));
    page.isIncomplete = true;
    await harness.advance(2_000);
    const stale = await cache.get(page.request());
    expect([textOf(stale), stale.ageS]).toEqual(['git version 1', 2]);
    await harness.advance(60_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
    await harness.advance(1_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 4');
    await harness.advance(1_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 5');
    expect(harness.warnings).toEqual([{ err: new Error('The response is incomplete'), key: 'git' }]);
  });

  test('an incomplete response does not replace a complete one sooner if the page had no requests for minutes', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(10 * 60_000);
    page.isIncomplete = true;
    for (const _ of ['first', 'second']) {
      expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
      await harness.advance(1_000);
    }
    expect(page.produced).toBe(3);
  });

  test('an incomplete response is produced again after a second', async () => {
    const page = source('git');
    page.isIncomplete = true;
    for (const _ of ['first', 'second']) expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
    expect(cache.peek('git')).toBeUndefined();
    await harness.advance(1_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
    page.isIncomplete = false;
    await harness.advance(1_000);
    const complete = await cache.get(page.request());
    expect([textOf(complete), complete.ageS]).toEqual(['git version 3', undefined]);
  });
});

describe('after an outage', () => {
  const gone = new CoreError('product_not_found', 'Product not found');
  const kinds: [string, Freshness][] = [
    ['a page', PAGE_FRESHNESS],
    ['an API response', API_FRESHNESS],
  ];

  /** Returns a response whose second version could not be produced. */
  async function failedRevalidation(freshness: Freshness) {
    const response = source('git', { freshness });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    await harness.advance(2_000);
    response.fails = unavailable;
    expect(await bodyOf(cache.get(response.request()))).toBe('git version 1');
    return response;
  }

  test.each(kinds)('%s that failed to revalidate is not served once its product is removed', async (_, freshness) => {
    const response = await failedRevalidation(freshness);
    await harness.advance(3_600_000);
    response.fails = gone;
    cache.invalidate({ productIds: ['git'], catalogue: true });
    await expect(cache.get(response.request())).rejects.toBe(gone);
  });

  test.each(kinds)('%s that failed to revalidate is not served to a visitor who wrote later', async (_, freshness) => {
    const response = await failedRevalidation(freshness);
    await harness.advance(10);
    response.fails = undefined;
    expect(await bodyOf(cache.get(response.request(harness.clockMs())))).toBe('git version 3');
  });

  test.each(kinds)('%s that failed to revalidate is not served after a reconnection', async (_, freshness) => {
    const response = await failedRevalidation(freshness);
    cache.setConnected(false);
    await harness.advance(10);
    cache.setConnected(true);
    response.fails = undefined;
    expect(await bodyOf(cache.get(response.request()))).toBe('git version 3');
  });
});
