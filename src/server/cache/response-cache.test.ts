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
import { API_FRESHNESS } from './cached-response.ts';

const unavailable = new CoreError('unavailable', 'The database is unreachable');
const MINUTE_MS = 60_000;

beforeEach(() => useCache());

describe('an unchanged response', () => {
  test('an unchanged response is produced once for all requests, even for simultaneous ones', async () => {
    const page = source('git');
    const first = await Promise.all([cache.get(page.request()), cache.get(page.request())]);
    expect(first.map(textOf)).toEqual(['git version 1', 'git version 1']);
    await harness.advance(MINUTE_MS / 2);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
    expect(page.produced).toBe(1);
  });

  test('a response is revalidated after a minute even without a change', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(MINUTE_MS + 1);
    await cache.get(page.request());
    await runPendingTasks();
    expect(page.produced).toBe(2);
  });
});

describe('a page', () => {
  test('a page that was not requested for over a minute is rendered before it is served', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(MINUTE_MS + 1_001);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
  });

  test('a changed page is served at once to everyone and revalidated in the background', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(500);
    cache.invalidate(change('git'));
    for (const _visitor of ['first', 'second']) {
      const served = cache.get(page.request());
      expect(served).not.toBeInstanceOf(Promise);
      expect(await bodyOf(served)).toBe('git version 1');
    }
    expect(page.produced).toBe(2);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
  });

  test('a page that changed within its interval is served at once and revalidated when the interval ends', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(10);
    cache.invalidate(change('git'));
    expect(cache.get(page.request())).not.toBeInstanceOf(Promise);
    await harness.advance(239);
    expect(page.produced).toBe(1);
    await harness.advance(1);
    expect(page.produced).toBe(2);
  });

  test('a page shows each of many changes within a second, and is rendered at most four times a second', async () => {
    const page = source('git');
    let changes = 0;
    await cache.get(page.request());
    for (let ms = 0; ms < 3_000; ms += 10) {
      cache.invalidate(change('git'));
      changes += 1;
      const served = await cache.get(page.request());
      expect(harness.clockMs() - served.version.startedAt).toBeLessThanOrEqual(1_000);
      await harness.advance(10);
    }
    expect(changes).toBe(300);
    expect(page.produced).toBeGreaterThanOrEqual(11);
    expect(page.produced).toBeLessThanOrEqual(13);
  });

  test('a page that is slow to render is revalidated less often, to leave time for other requests', async () => {
    const page = source('git');
    for (let ms = 0; ms < 3_000; ms += 10) {
      page.hold = harness.sleep(40);
      cache.invalidate(change('git'));
      void cache.get(page.request());
      await harness.advance(10);
    }
    expect(page.produced).toBeGreaterThanOrEqual(4);
    expect(page.produced).toBeLessThanOrEqual(7);
  });

  test('a page that changed a second ago is rendered before it is served, without waiting for an interval', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.invalidate(change('git'));
    await harness.advance(1_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
  });

  test("a page is never older than the visitor's own writes, and is rendered for that visitor at once", async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(10);
    cache.invalidate(change('git'));
    const wroteAt = harness.clockMs();
    const others = cache.get(page.request());
    const own = cache.get(page.request(wroteAt));
    expect(await bodyOf(others)).toBe('git version 1');
    expect(await bodyOf(own)).toBe('git version 2');
  });

  test('a page that was being rendered when a visitor wrote is rendered again for that visitor', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(300);
    cache.invalidate(change('git'));
    const release = hold(page);
    void cache.get(page.request());
    await harness.advance(1);
    cache.invalidate(change('git'));
    const own = cache.get(page.request(harness.clockMs()));
    release();
    expect(await bodyOf(own)).toBe('git version 3');
  });

  test('a page is rendered once for all visitors who have just written and request it at the same time', async () => {
    const page = source('git');
    await cache.get(page.request());
    await harness.advance(10);
    const bodies = await Promise.all(
      Array.from({ length: 50 }, () => bodyOf(cache.get(page.request(harness.clockMs())))),
    );
    expect(new Set(bodies)).toEqual(new Set(['git version 2']));
    expect(page.produced).toBe(2);
  });
});

describe('an API response', () => {
  test('an API response includes every change committed before the request', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    expect(await bodyOf(cache.get(response.request()))).toBe('git version 2');
  });

  test('an API response is produced again if another change is committed while it is produced', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    await cache.get(response.request());
    cache.invalidate(change('git'));
    const release = hold(response);
    const early = cache.get(response.request());
    await runPendingTasks();
    cache.invalidate(change('git'));
    const late = cache.get(response.request());
    release();
    expect(await bodyOf(late)).toBe('git version 3');
    await early;
  });
});

describe('a request while the first version is produced', () => {
  test('all requests while the first version is produced get that version', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    const release = hold(response);
    const both = [cache.get(response.request()), cache.get(response.request())];
    release();
    expect(await Promise.all(both.map(bodyOf))).toEqual(['git version 1', 'git version 1']);
  });

  test('a request for an API response that changed while it was first produced gets the second version', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    const release = hold(response);
    const before = cache.get(response.request());
    cache.invalidate(change('git'));
    const after = [cache.get(response.request()), cache.get(response.request())];
    release();
    expect(await bodyOf(before)).toBe('git version 1');
    expect(await Promise.all(after.map(bodyOf))).toEqual(['git version 2', 'git version 2']);
  });

  test('a request for a page that changed while it was first produced gets the first version', async () => {
    const page = source('git');
    const release = hold(page);
    const before = cache.get(page.request());
    cache.invalidate(change('git'));
    const after = cache.get(page.request());
    release();
    expect([await bodyOf(before), await bodyOf(after)]).toEqual(['git version 1', 'git version 1']);
  });

  test('a visitor who wrote while a page was first produced gets the second version', async () => {
    const page = source('git');
    const release = hold(page);
    const before = cache.get(page.request());
    await harness.advance(10);
    const own = cache.get(page.request(harness.clockMs()));
    release();
    expect([await bodyOf(before), await bodyOf(own)]).toEqual(['git version 1', 'git version 2']);
  });

  test('if the first version fails, a request that followed a change causes another attempt', async () => {
    const response = source('git', { freshness: API_FRESHNESS });
    const release = hold(response);
    const before = bodyOf(cache.get(response.request()));
    await runPendingTasks();
    response.fails = unavailable;
    cache.invalidate(change('git'));
    const after = bodyOf(cache.get(response.request()));
    release();
    await expect(before).rejects.toBe(unavailable);
    await expect(after).rejects.toBe(unavailable);
    expect(response.produced).toBe(2);
  });
});

test('a response that was evicted during its revalidation is not served as current after a change', async () => {
  useCache({ maxBytes: 8_000 });
  const list = source('list', { freshness: API_FRESHNESS });
  await cache.get(list.request());
  const release = hold(list);
  cache.invalidate(change('list'));
  const waiting = cache.get(list.request());
  await cache.get(source('git').request());
  cache.invalidate(change('list'));
  release();
  expect(await bodyOf(waiting)).toBe('list version 2');
  expect(await bodyOf(cache.get(list.request()))).toBe('list version 3');
});

test('jumps of the wall clock in either direction do not affect the cache', async () => {
  const page = source('git');
  await cache.get(page.request());
  for (const jumpMs of [-3_600_000, 3_600_000, -86_400_000]) {
    harness.jumpWallClock(jumpMs);
    await harness.advance(2_000);
    const { produced } = page;
    cache.invalidate(change('git'));
    const served = cache.get(page.request());
    expect(served).not.toBeInstanceOf(Promise);
    expect((await served).ageS).toBeUndefined();
    await runPendingTasks();
    expect(await bodyOf(cache.get(page.request()))).toBe(`git version ${produced + 1}`);
  }
});

test('a response that no longer exists is not served from the cache', async () => {
  const gone = new CoreError('product_not_found', 'Product not found');
  const response = source('git', { freshness: API_FRESHNESS });
  await cache.get(response.request());
  cache.invalidate(change('git'));
  response.fails = gone;
  await expect(cache.get(response.request())).rejects.toBe(gone);
  await expect(cache.get(response.request())).rejects.toBe(gone);
});

test('a list whose search timed out is served but not stored', async () => {
  const response = source('git', { dependencies: { unfinished: true } });
  expect(await bodyOf(cache.get(response.request()))).toBe('git version 1');
  expect(await bodyOf(cache.get(response.request()))).toBe('git version 2');
});

test('with replicas, a visitor who wrote in another process gets no version produced too soon after the write', async () => {
  useCache({ otherProcessLagMs: 1_000 });
  const page = source('git');
  const wroteAt = harness.clockMs();
  await harness.advance(10);
  await cache.get(page.request());
  expect(await bodyOf(cache.get(page.request(wroteAt)))).toBe('git version 2');
  expect(await bodyOf(cache.get(page.request(wroteAt)))).toBe('git version 2');
});
