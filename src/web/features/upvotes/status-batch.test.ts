import { describe, expect, test } from 'vitest';
import { batchUpvoteStatus } from './status-batch.ts';

function countingApi(answer: (ids: readonly string[]) => Promise<{ upvoted: string[] }>) {
  const asked: string[][] = [];
  return {
    asked,
    getUpvoted(ids: readonly string[]) {
      asked.push([...ids]);
      return answer(ids);
    },
  };
}

describe('asking for upvotes', () => {
  test('of many products at once is one request, each id once', async () => {
    const api = countingApi(async () => ({ upvoted: ['b'] }));
    const ask = batchUpvoteStatus(api);
    expect(await Promise.all([ask('a'), ask('b'), ask('b'), ask('c')])).toEqual([false, true, true, false]);
    expect(api.asked).toEqual([['a', 'b', 'c']]);
  });

  test('of more products than one request may name is several', async () => {
    const api = countingApi(async (ids) => ({ upvoted: [...ids] }));
    const ask = batchUpvoteStatus(api);
    const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => ask(`p${index}`)));
    expect(answers.every(Boolean)).toBe(true);
    expect(api.asked.map((ids) => ids.length)).toEqual([100, 100, 50]);
  });

  test('later is a request of its own', async () => {
    const api = countingApi(async () => ({ upvoted: [] }));
    const ask = batchUpvoteStatus(api);
    await ask('a');
    await ask('a');
    expect(api.asked).toEqual([['a'], ['a']]);
  });

  test('in vain fails for all with one error, in the specification’s words', async () => {
    const ask = batchUpvoteStatus(countingApi(() => Promise.reject(new Error('out of reach'))));
    const errors = await Promise.all([ask('a'), ask('b')].map((answer) => answer.catch((error: unknown) => error)));
    expect(errors[0]).toMatchObject({ message: 'Failed to check upvote status: out of reach' });
    expect(errors[1]).toBe(errors[0]);
  });
});
