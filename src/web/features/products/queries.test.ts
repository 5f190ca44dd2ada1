import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReadApi } from '../../../contract/api.ts';
import { createQueryClient } from '../../cache/query-client.ts';
import { productDetailOptions } from './queries.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('the delay before a retry doubles from 1 s to at most 30 s', async () => {
  const times: number[] = [];
  const getProduct = () => {
    times.push(Date.now());
    return Promise.reject(new Error('unavailable'));
  };
  const client = createQueryClient('server');
  const read = client.fetchQuery({ ...productDetailOptions({ getProduct } as unknown as ReadApi, 'a'), retry: 7 });
  await Promise.all([expect(read).rejects.toThrow('unavailable'), vi.runAllTimersAsync()]);
  expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
});
