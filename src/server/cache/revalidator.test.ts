import { beforeEach, describe, expect, test } from 'vitest';
import {
  type CacheHarness,
  change,
  createCacheHarness,
  hold,
  runPendingTasks,
} from '../../../tests/support/response-cache-harness.ts';
import { createResponseSource } from '../../../tests/support/response-source.ts';
import { FEED_FRESHNESS } from './cached-response.ts';

/** The minimum interval between two revalidations of a page. */
const INTERVAL_MS = 250;

let harness: CacheHarness;
let page: ReturnType<typeof createResponseSource>;
beforeEach(async () => {
  harness = createCacheHarness();
  page = createResponseSource('git');
  await harness.cache.get(page.request());
});

/** Changes the page and requests it, which schedules its revalidation. */
function changeAndRequest(): void {
  harness.cache.invalidate(change('git'));
  void harness.cache.get(page.request());
}

test('a feed is dated by the start of its revalidation, since these starts are at least a second apart', async () => {
  const feed = createResponseSource('feed', { freshness: FEED_FRESHNESS });
  const release = hold(feed);
  const served = harness.cache.get(feed.request());
  harness.jumpWallClock(900);
  release();
  expect((await served).version.contentSince).toBe(Date.parse('2026-06-01T12:00:00Z'));
});

test('a feed that changes after the wall clock was set back gets a later date than before', async () => {
  const feed = createResponseSource('feed', { freshness: FEED_FRESHNESS });
  const { contentSince } = (await harness.cache.get(feed.request())).version;
  harness.jumpWallClock(-3_600_000);
  await harness.advance(1_000);
  harness.cache.invalidate(change('feed'));
  const { version } = await harness.cache.get(feed.request(harness.clockMs()));
  expect(version.contentSince).toBe(contentSince + 1_000);
});

describe('a scheduled revalidation', () => {
  test('a scheduled revalidation starts when the interval since the last version is over', async () => {
    await harness.advance(10);
    changeAndRequest();
    changeAndRequest();
    await harness.advance(INTERVAL_MS - 11);
    expect(page.produced).toBe(1);
    await harness.advance(1);
    expect(page.produced).toBe(2);
  });

  test('a scheduled revalidation does not start if a visitor who just wrote caused one earlier', async () => {
    changeAndRequest();
    await harness.advance(10);
    await harness.cache.get(page.request(harness.clockMs()));
    expect(page.produced).toBe(2);
    await harness.advance(INTERVAL_MS);
    expect(page.produced).toBe(2);
  });

  test('a scheduled revalidation does not start while one runs for a visitor who just wrote', async () => {
    changeAndRequest();
    await harness.advance(10);
    const release = hold(page);
    const own = harness.cache.get(page.request(harness.clockMs()));
    await harness.advance(INTERVAL_MS);
    expect(page.produced).toBe(2);
    release();
    await own;
  });

  test('the timer of a replaced revalidation does not start its replacement early', async () => {
    changeAndRequest();
    await harness.advance(20);
    await harness.cache.get(page.request(harness.clockMs()));
    changeAndRequest();
    await harness.advance(INTERVAL_MS - 1);
    expect(page.produced).toBe(2);
    await harness.advance(1);
    await runPendingTasks();
    expect(page.produced).toBe(3);
  });
});
