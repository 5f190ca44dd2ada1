import type { Rate } from '../../settings/rate-limits.ts';

/** The state of a bucket at a moment. */
export interface BucketState {
  /** Whole tokens that can be taken now. */
  remaining: number;
  /** Until there is a token; 0 if there is one. */
  waitMs: number;
  /** Until it is full again. */
  refillMs: number;
}

/**
 * Token buckets of one rate, one per key: each holds `amount` tokens at most and refills evenly over `seconds`.
 *
 * Of a bucket only the moment when it will be full again is stored, which determines everything else (the "virtual
 * scheduling" of the generic cell rate algorithm, ITU-T I.371). A full bucket equals a new one, so it can be
 * forgotten.
 */
export interface TokenBuckets {
  look(key: string): BucketState;
  /** Takes a token if there is one. @returns whether it did. */
  take(key: string): boolean;
  /** Returns a token that was not used. */
  giveBack(key: string): void;
  /** Moves the bucket of one key to another. */
  rename(from: string, to: string): void;
  has(key: string): boolean;
  /** The number of buckets. */
  size(): number;
}

interface Options extends Rate {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Maximum number of buckets, so a flood of invented keys cannot exhaust the memory. */
  maxKeys?: number;
}

export function createTokenBuckets({ amount, seconds, now, maxKeys = 100_000 }: Options): TokenBuckets {
  const windowMs = seconds * 1_000;
  const tokenMs = windowMs / amount;
  // In the order of their last use: the first ones are the fullest, roughly.
  const fullAt = new Map<string, number>();

  function debtMs(key: string): number {
    return Math.max((fullAt.get(key) ?? 0) - now(), 0);
  }

  function put(key: string, debt: number): void {
    fullAt.delete(key);
    if (debt <= 0) return;
    fullAt.set(key, now() + debt);
    forgetFull();
    if (fullAt.size > maxKeys) forgetFirst();
  }

  /** A few with every write, so full buckets go as fast as new ones arrive, without a timer. */
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
    // A tolerance of a thousandth of a token: sums of such shares are not exact.
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
