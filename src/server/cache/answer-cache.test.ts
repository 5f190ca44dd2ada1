import { beforeEach, describe, expect, test } from 'vitest';
import { CoreError } from '../../core/core-error.ts';
import { API_FRESHNESS, type Reads } from './answer.ts';
import { type AnswerCache, createAnswerCache, type Served } from './answer-cache.ts';
import { createTestSource as source } from './test-source.ts';

const away = new CoreError('unavailable', 'away');
const MINUTE_MS = 60_000;

let clockMs: number;
let sleepers: { until: number; wake(): void }[];
let warnings: unknown[];
let cache: AnswerCache;

beforeEach(() => {
  clockMs = 1_000_000;
  sleepers = [];
  warnings = [];
  cache = newCache();
});

function newCache(maxBytes?: number): AnswerCache {
  return createAnswerCache({
    log: { info: () => {}, warn: (about: unknown) => void warnings.push(about), error: () => {} },
    now: () => clockMs,
    sleep: (ms) => new Promise((wake) => sleepers.push({ until: clockMs + ms, wake })),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
}

/** Lets time pass, and everything that waited for it go on. */
async function pass(ms: number): Promise<void> {
  clockMs += ms;
  for (const { until, wake } of sleepers) if (until <= clockMs) wake();
  sleepers = sleepers.filter(({ until }) => until > clockMs);
  await settled();
}

/** Everything that can go on without time passing has gone on. */
const settled = () => new Promise(setImmediate);

const textOf = ({ content }: Served) => String(content.bytes('identity'));
const bodyOf = async (served: Promise<Served> | Served) => textOf(await served);
const change = (...productIds: string[]) => ({ productIds, catalogue: false });

describe('an answer that nothing changed', () => {
  test('is made once, however many ask, also at the same time', async () => {
    const page = source('git');
    const first = await Promise.all([cache.get(page.request()), cache.get(page.request())]);
    expect(first.map(textOf)).toEqual(['git version 1', 'git version 1']);
    await pass(MINUTE_MS / 2);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
    expect(page.made).toBe(1);
  });

  test('is checked again after a minute, whatever became of the messages about changes', async () => {
    const page = source('git');
    await cache.get(page.request());
    await pass(MINUTE_MS + 1);
    await cache.get(page.request());
    await settled();
    expect(page.made).toBe(2);
  });
});

describe('a page', () => {
  test('is given outdated for a moment while the next version is made, and then in the new one', async () => {
    const page = source('git');
    await cache.get(page.request());
    await pass(500);
    cache.drop(change('git'));
    const setsOff = cache.get(page.request());
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 1');
    expect(await bodyOf(setsOff)).toBe('git version 2');
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
  });

  test('is made at most once in 250 ms however many changes there are', async () => {
    const page = source('git');
    await cache.get(page.request());
    for (let ms = 0; ms < 1_000; ms += 10) {
      cache.drop(change('git'));
      void cache.get(page.request());
      await pass(10);
    }
    expect(page.made).toBeGreaterThanOrEqual(4);
    expect(page.made).toBeLessThanOrEqual(5);
  });

  test('that takes long to make is made less often, so that making it leaves time for answering', async () => {
    const page = source('git');
    for (let ms = 0; ms < 3_000; ms += 10) {
      page.hold = new Promise((resolve) => sleepers.push({ until: clockMs + 40, wake: resolve }));
      cache.drop(change('git'));
      void cache.get(page.request());
      await pass(10);
    }
    expect(page.made).toBeGreaterThanOrEqual(5);
    expect(page.made).toBeLessThanOrEqual(7);
  });

  test('that nobody asked for since it changed long ago is made anew before it is given', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.drop(change('git'));
    await pass(5_000);
    expect(await bodyOf(cache.get(page.request()))).toBe('git version 2');
  });

  test('is never older for a visitor than what this visitor wrote', async () => {
    const page = source('git');
    await cache.get(page.request());
    await pass(10);
    cache.drop(change('git'));
    const wroteAt = clockMs;
    void cache.get(page.request());
    const others = cache.get(page.request());
    const own = cache.get(page.request(wroteAt));
    expect(await bodyOf(others)).toBe('git version 1');
    await pass(250);
    expect(await bodyOf(own)).toBe('git version 2');
  });

  test('of which a making was under way when a visitor wrote is made once more for this visitor', async () => {
    const page = source('git');
    await cache.get(page.request());
    await pass(300);
    cache.drop(change('git'));
    let release = () => {};
    page.hold = new Promise((resolve) => {
      release = resolve;
    });
    void cache.get(page.request());
    await pass(1);
    cache.drop(change('git'));
    const own = cache.get(page.request(clockMs));
    release();
    page.hold = undefined;
    await settled();
    await pass(250);
    expect(await bodyOf(own)).toBe('git version 3');
  });
});

describe('an answer of the API', () => {
  test('always shows what was committed before it was asked for', async () => {
    const answer = source('git', { freshness: API_FRESHNESS });
    await cache.get(answer.request());
    cache.drop(change('git'));
    expect(await bodyOf(cache.get(answer.request()))).toBe('git version 2');
  });

  test('whose making was under way when something was committed is made once more', async () => {
    const answer = source('git', { freshness: API_FRESHNESS });
    await cache.get(answer.request());
    cache.drop(change('git'));
    let release = () => {};
    answer.hold = new Promise((resolve) => {
      release = resolve;
    });
    const early = cache.get(answer.request());
    await settled();
    cache.drop(change('git'));
    const late = cache.get(answer.request());
    release();
    expect(await bodyOf(late)).toBe('git version 3');
    await early;
  });
});

describe('what a change touches', () => {
  test.each<[string, Partial<Reads>, Parameters<AnswerCache['drop']>[0], number]>([
    ['its own product', {}, change('git'), 2],
    ['another product', {}, change('vim'), 1],
    ['any product, for an order by counts', { allCounts: true }, change('vim'), 2],
    ['the catalogue, for what depends on it', { catalogue: true }, { productIds: [], catalogue: true }, 2],
    ['the catalogue, for what does not', {}, { productIds: [], catalogue: true }, 1],
  ])('%s', async (_name, reads, what, made) => {
    const answer = source('git', { freshness: API_FRESHNESS, reads });
    await cache.get(answer.request());
    cache.drop(what);
    await cache.get(answer.request());
    expect(answer.made).toBe(made);
  });

  test('everything, where changes may have been missed', async () => {
    const answer = source('git', { freshness: API_FRESHNESS });
    await cache.get(answer.request());
    cache.dropAll();
    await cache.get(answer.request());
    expect(answer.made).toBe(2);
  });
});

describe('while answers cannot be made', () => {
  test('the last good one is given, says how old it is, is tried again now and then, and is fresh when that succeeds', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.drop(change('git'));
    page.fails = away;
    await pass(2_000);
    const stale = await cache.get(page.request());
    expect(textOf(stale)).toBe('git version 1');
    expect(stale.staleForS).toBe(2);
    expect(warnings).toHaveLength(1);
    const triedBefore = page.made;
    for (let asked = 0; asked < 50; asked += 1) await cache.get(page.request());
    expect(page.made).toBe(triedBefore);
    page.fails = undefined;
    await pass(1_000);
    await settled();
    expect((await cache.get(page.request())).staleForS).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  test('and there is no older one, the failure is the answer', async () => {
    const page = source('git');
    page.fails = away;
    await expect(cache.get(page.request())).rejects.toBe(away);
  });

  test('nobody waits for ever: a hanging database costs two seconds, and then the last good answer is given', async () => {
    const answer = source('git', { freshness: API_FRESHNESS });
    await cache.get(answer.request());
    cache.drop(change('git'));
    answer.hold = new Promise(() => {});
    const served = cache.get(answer.request());
    await pass(2_000);
    expect(await bodyOf(served)).toBe('git version 1');
  });

  test('and changes cannot be heard of, even an unchanged answer says since when', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.setDeafSince(clockMs);
    await pass(7_000);
    expect((await cache.get(page.request())).staleForS).toBe(7);
    cache.setDeafSince(undefined);
    expect((await cache.get(page.request())).staleForS).toBeUndefined();
  });

  test('and changes cannot be heard of, nobody waits for a page whose making hangs', async () => {
    const page = source('git');
    await cache.get(page.request());
    cache.drop(change('git'));
    page.hold = new Promise(() => {});
    cache.setDeafSince(clockMs);
    await pass(7_000);
    for (const _ of ['who sets the making off', 'the next']) {
      const served = cache.get(page.request());
      expect(served).not.toBeInstanceOf(Promise);
      expect(await served).toMatchObject({ staleForS: 7 });
    }
  });
});

test('an answer that is gone is gone, and not an old answer for ever', async () => {
  const gone = new CoreError('product_not_found', 'Product not found');
  const answer = source('git', { freshness: API_FRESHNESS });
  await cache.get(answer.request());
  cache.drop(change('git'));
  answer.fails = gone;
  await expect(cache.get(answer.request())).rejects.toBe(gone);
  await expect(cache.get(answer.request())).rejects.toBe(gone);
});

test('an answer that stopped at its time limit is given, and not kept', async () => {
  const answer = source('git', { reads: { unfinished: true } });
  expect(await bodyOf(cache.get(answer.request()))).toBe('git version 1');
  expect(await bodyOf(cache.get(answer.request()))).toBe('git version 2');
});

test('memory is bounded: the least recently used answers go first', async () => {
  // Room for five of six.
  const maxBytes = 24_600;
  cache = newCache(maxBytes);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const answers = new Map(names.map((name) => [name, source(name)]));
  for (const name of names) {
    await cache.get(answers.get(name)?.request() ?? expect.unreachable());
    await cache.get(answers.get('a')?.request() ?? expect.unreachable());
    expect(cache.sizeBytes()).toBeLessThanOrEqual(maxBytes);
  }
  await cache.get(answers.get('b')?.request() ?? expect.unreachable());
  expect(answers.get('a')?.made).toBe(1);
  expect(answers.get('b')?.made).toBe(2);
});
