import { expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { API_FRESHNESS } from './answer.ts';
import { createAnswerCache, type Served } from './answer-cache.ts';
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
