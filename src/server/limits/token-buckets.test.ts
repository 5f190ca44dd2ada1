import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTokenBuckets } from './token-buckets.ts';

/** A simple model of a bucket: tokens arrive evenly, and only whole tokens are taken. */
class ModelBucket {
  private tokens: number;
  private at = 0;

  constructor(
    readonly amount: number,
    readonly seconds: number,
  ) {
    this.tokens = amount;
  }

  /** Refills the bucket. @returns its tokens plus the tolerance of token-buckets.ts, a thousandth of a token. */
  available(now: number): number {
    const refilled = ((now - this.at) / (this.seconds * 1_000)) * this.amount;
    this.tokens = Math.min(this.amount, this.tokens + refilled);
    this.at = now;
    return this.tokens + 0.001;
  }

  take(): void {
    this.tokens -= 1;
  }
}

describe('for any sequence of requests', () => {
  // By default, fast-check generates at most ten steps.
  const steps = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), pauseMs: fc.nat(2_000) }), {
    maxLength: 300,
    size: 'max',
  });
  const rate = fc.record({ amount: fc.integer({ min: 1, max: 50 }), seconds: fc.integer({ min: 1, max: 60 }) });

  test('each bucket accepts and refuses like a simple token counter', () => {
    fc.assert(
      fc.property(rate, steps, ({ amount, seconds }, list) => {
        let now = 0;
        const buckets = createTokenBuckets({ amount, seconds, now: () => now });
        const models = {
          a: new ModelBucket(amount, seconds),
          b: new ModelBucket(amount, seconds),
          c: new ModelBucket(amount, seconds),
        };
        for (const { key, pauseMs } of list) {
          now += pauseMs;
          const model = models[key];
          const available = model.available(now);
          const taken = buckets.take(key);
          // Within 1e-6 of one token, the result is not checked, because it depends on rounding.
          if (Math.abs(available - 1) > 1e-6) expect(taken).toBe(available >= 1);
          if (taken) model.take();
        }
      }),
    );
  });

  test('in any interval as long as the window, at most twice the permitted number of requests passes', () => {
    fc.assert(
      fc.property(rate, steps, ({ amount, seconds }, list) => {
        let now = 0;
        const buckets = createTokenBuckets({ amount, seconds, now: () => now });
        const passed: number[] = [];
        for (const { pauseMs } of list) {
          now += pauseMs;
          if (buckets.take('a')) passed.push(now);
        }
        for (const start of passed) {
          expect(passed.filter((at) => at >= start && at < start + seconds * 1_000).length).toBeLessThanOrEqual(
            2 * amount,
          );
        }
      }),
    );
  });
});

describe('one bucket', () => {
  function bucketOf(amount: number, seconds: number, maxKeys?: number) {
    const clock = { ms: 1_000_000 };
    const buckets = createTokenBuckets({ amount, seconds, now: () => clock.ms, ...(maxKeys ? { maxKeys } : {}) });
    return { clock, buckets };
  }

  test('a bucket gives all its tokens at once, then one at a time as it refills', () => {
    const { clock, buckets } = bucketOf(3, 60);
    expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([true, true, true, false]);
    expect(buckets.peek('a')).toEqual({ remaining: 0, waitMs: expect.any(Number), refillMs: 60_000 });
    clock.ms += 19_000;
    expect(buckets.take('a')).toBe(false);
    clock.ms += 1_000;
    expect([1, 2].map(() => buckets.take('a'))).toEqual([true, false]);
  });

  test('a bucket reports the wait for the next token, and waiting exactly that long is enough', () => {
    const { clock, buckets } = bucketOf(7, 60);
    for (let taken = 0; taken < 7; taken += 1) buckets.take('a');
    clock.ms += buckets.peek('a').waitMs;
    expect(buckets.take('a')).toBe(true);
  });

  test('a refusal takes no token', () => {
    const { clock, buckets } = bucketOf(1, 10);
    buckets.take('a');
    for (let tried = 0; tried < 100; tried += 1) buckets.take('a');
    clock.ms += 10_000;
    expect(buckets.take('a')).toBe(true);
  });

  test('a refunded token can be taken again', () => {
    const { buckets } = bucketOf(1, 10);
    buckets.take('a');
    buckets.refund('a');
    expect(buckets.has('a')).toBe(false);
    expect(buckets.take('a')).toBe(true);
  });

  test('full buckets are deleted as new ones are added', () => {
    const { clock, buckets } = bucketOf(10, 1);
    for (let key = 0; key < 1_000; key += 1) buckets.take(`old-${key}`);
    clock.ms += 1_000;
    for (let key = 0; key < 1_000; key += 1) buckets.take(`new-${key}`);
    for (let key = 0; key < 1_000; key += 1) expect(buckets.has(`old-${key}`)).toBe(false);
  });

  test('200,000 different keys do not exceed the maximum number of buckets', () => {
    const { buckets } = bucketOf(1, 3_600, 1_000);
    const keys = Array.from({ length: 200_000 }, (_, key) => `made-up-${key}`);
    for (const key of keys) buckets.take(key);
    expect(keys.filter((key) => buckets.has(key))).toHaveLength(1_000);
  });
});
