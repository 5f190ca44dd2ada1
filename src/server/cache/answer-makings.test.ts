import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { API_FRESHNESS, type Freshness, PAGE_FRESHNESS } from './answer.ts';
import { type AnswerCache, createAnswerCache, type Served } from './answer-cache.ts';
import { createTestSource as source } from './test-source.ts';

const change = (productId: string) => ({ productIds: [productId], catalogue: false });
const bodyOf = async (served: Promise<Served> | Served) => String((await served).content.bytes('identity'));

test('an answer that had to go while its next version was made does not come back, however old by then', async () => {
  const cache = createAnswerCache({ log: silentLog, maxBytes: 8_000 });
  const list = source('list', { freshness: API_FRESHNESS });
  await cache.get(list.request());
  let finish = () => {};
  list.hold = new Promise((resolve) => {
    finish = resolve;
  });
  cache.drop(change('list'));
  const waiting = cache.get(list.request());
  await cache.get(source('git').request());
  const bytesOfOne = cache.sizeBytes();
  cache.drop(change('list'));
  finish();
  expect(await bodyOf(waiting)).toBe('list version 2');
  expect(cache.sizeBytes()).toBe(bytesOfOne);
  expect(await bodyOf(cache.get(list.request()))).toBe('list version 3');
});

describe('whoever asks while the first version is made', () => {
  let cache: AnswerCache;
  let finish: () => void;
  let answer: ReturnType<typeof source>;
  let clockMs: number;

  /** Somebody asks, and the making is held until `finish`. */
  function begin(freshness: Freshness): Promise<string> {
    clockMs = 1_000;
    cache = createAnswerCache({ log: silentLog, now: () => clockMs });
    answer = source('git', { freshness });
    answer.hold = new Promise((resolve) => {
      finish = resolve;
    });
    return bodyOf(cache.get(answer.request()));
  }

  test('is given it', async () => {
    const asked = begin(API_FRESHNESS);
    const askedLater = bodyOf(cache.get(answer.request()));
    finish();
    expect(await Promise.all([asked, askedLater])).toEqual(['git version 1', 'git version 1']);
  });

  test('of the API, after a change, is given the next', async () => {
    const asked = begin(API_FRESHNESS);
    cache.drop(change('git'));
    const askedLater = [bodyOf(cache.get(answer.request())), bodyOf(cache.get(answer.request()))];
    finish();
    expect(await Promise.all([asked, ...askedLater])).toEqual(['git version 1', 'git version 2', 'git version 2']);
  });

  test('of a page, after a change, is given it: a page may lag', async () => {
    const asked = begin(PAGE_FRESHNESS);
    cache.drop(change('git'));
    const askedLater = bodyOf(cache.get(answer.request()));
    finish();
    expect(await Promise.all([asked, askedLater])).toEqual(['git version 1', 'git version 1']);
  });

  test('of a page, and has written since it began, is given the next', async () => {
    const asked = begin(PAGE_FRESHNESS);
    clockMs = 2_000;
    const askedLater = bodyOf(cache.get(answer.request(1_500)));
    finish();
    expect(await Promise.all([asked, askedLater])).toEqual(['git version 1', 'git version 2']);
  });

  test('after a change is given an answer of its own where that one failed', async () => {
    const asked = begin(API_FRESHNESS);
    answer.fails = new Error('away');
    cache.drop(change('git'));
    const askedLater = bodyOf(cache.get(answer.request()));
    finish();
    await expect(asked).rejects.toThrow('away');
    await expect(askedLater).rejects.toThrow('away');
    expect(answer.made).toBe(2);
  });
});
