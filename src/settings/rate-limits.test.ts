import { describe, expect, test } from 'vitest';
import { DEFAULT_RATE_LIMITS, limitsPerProcess, streamLimitsPerProcess } from './rate-limits.ts';

describe('the limits of one process', () => {
  test('the limits of a single process equal the limits of the site', () => {
    expect(limitsPerProcess(DEFAULT_RATE_LIMITS, 1)).toEqual(DEFAULT_RATE_LIMITS);
  });

  test("each process enforces a share of the site's limits per network, but at least the limits per session", () => {
    const { upvote, comment, search } = limitsPerProcess(DEFAULT_RATE_LIMITS, 4);
    expect(upvote).toEqual({ session: { amount: 120, seconds: 60 }, network: { amount: 150, seconds: 60 } });
    expect(comment.network.amount).toBe(15);
    expect(search).toEqual({ network: { amount: 5, seconds: 1 } });
    expect(limitsPerProcess(DEFAULT_RATE_LIMITS, 64).upvote.network.amount).toBe(120);
  });

  test('the limits of one process never exceed the limits of the site', () => {
    const strict = { ...DEFAULT_RATE_LIMITS, search: { network: { amount: 2, seconds: 1 } } };
    expect(limitsPerProcess(strict, 2).search.network.amount).toBe(2);
  });

  test('each process enforces a share of the stream limit per network, and the whole stream limit per process', () => {
    expect(streamLimitsPerProcess({ perProcess: 5_000, perNetwork: 500 }, 3)).toEqual({
      perProcess: 5_000,
      perNetwork: 167,
    });
    expect(streamLimitsPerProcess({ perProcess: 10, perNetwork: undefined }, 3)).toEqual({
      perProcess: 10,
      perNetwork: undefined,
    });
  });
});
