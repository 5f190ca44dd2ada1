import type { Rate } from '../../settings/rate-limits.ts';

/** What a bucket holds at a moment. */
export interface BucketState {
  /** Whole tokens that can be taken now. */
  remaining: number;
  /** Until there is a token; 0 where there is one. */
  waitMs: number;
  /** Until it is full again. */
  refillMs: number;
}

/**
 * Token buckets, one a key, all of one rate: each holds `amount` tokens at most and refills evenly over `seconds`.
 *
 * Of a bucket only the moment at which it will be full again is kept, from which all else follows (the "virtual
 * scheduling" of the generic cell rate algorithm, ITU-T I.371). A bucket that is full is no different from one that
 * never was, so that it can be forgotten.
 */
export interface TokenBuckets {
  look(key: string): BucketState;
  /** Takes a token where there is one; else nothing changes. @returns whether it did. */
  take(key: string): boolean;
  /** Puts a token back that was taken in vain. */
  giveBack(key: string): void;
  /** Lets the bucket of one key go on under another. */
  rename(from: string, to: string): void;
  has(key: string): boolean;
  /** How many buckets are kept. */
  size(): number;
}

interface Options extends Rate {
  now: () => number;
  /** Buckets kept at most, so that a flood of made-up keys cannot eat the memory. */
  maxKeys?: number;
}

export function createTokenBuckets({ amount, seconds, now, maxKeys = 100_000 }: Options): TokenBuckets {
  const windowMs = seconds * 1_000;
  const tokenMs = windowMs / amount;
  // In the order in which they were last drawn from: the first ones are the fullest, roughly.
  const fullAt = new Map<string, number>();

  function debtMs(key: string): number {
    const debt = Math.max((fullAt.get(key) ?? 0) - now(), 0);
    if (debt <= windowMs) return debt;
    // A clock that was set back must not lock anybody out for longer than an empty bucket does.
    fullAt.set(key, now() + windowMs);
    return windowMs;
  }

  function put(key: string, debt: number): void {
    fullAt.delete(key);
    if (debt <= 0) return;
    fullAt.set(key, now() + debt);
    forgetFull();
    if (fullAt.size > maxKeys) forgetFirst();
  }

  /** A few with every write, so that what is over goes as fast as new ones come, without a timer. */
  function forgetFull(): void {
    let looked = 0;
    for (const [key, moment] of fullAt) {
      if (moment > now()) return;
      fullAt.delete(key);
      looked += 1;
      if (looked === 2) return;
    }
  }

  function forgetFirst(): void {
    for (const key of fullAt.keys()) {
      fullAt.delete(key);
      return;
    }
  }

  function look(key: string): BucketState {
    const debt = debtMs(key);
    // A thousandth of a token is forgiven: sums of such shares do not come out even.
    const tokens = (windowMs - debt) / tokenMs + 0.001;
    const missingMs = tokens >= 1 ? 0 : (1 - tokens) * tokenMs;
    return { remaining: Math.floor(tokens), waitMs: Math.ceil(missingMs), refillMs: Math.ceil(debt) };
  }

  return {
    look,
    take(key) {
      if (look(key).remaining < 1) return false;
      put(key, debtMs(key) + tokenMs);
      return true;
    },
    giveBack: (key) => put(key, debtMs(key) - tokenMs),
    rename(from, to) {
      const debt = debtMs(from);
      fullAt.delete(from);
      put(to, debt);
    },
    has: (key) => fullAt.has(key),
    size: () => fullAt.size,
  };
}
