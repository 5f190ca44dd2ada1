import type { Rate } from '../../settings/rate-limits.ts';
import { createNetworkKeys, type NetworkKey, PREFIX_48_LIMIT_FACTOR, prefix48 } from './network-keys.ts';

/** The state of a bucket at a point in time. */
interface BucketState {
  /** Whole tokens that can be taken now. */
  remaining: number;
  /** Milliseconds until there is a token; 0 if there is one. */
  waitMs: number;
  /** Milliseconds until the bucket is full. */
  refillMs: number;
}

/**
 * Token buckets of one rate, one per key: each holds `amount` tokens at most and refills evenly over `seconds`. Only
 * the time at which a bucket will be full is stored, because it determines everything else (the "virtual scheduling" of
 * the generic cell rate algorithm, ITU-T I.371). A full bucket equals a new one, so it is deleted.
 */
export interface TokenBuckets {
  peek(key: string): BucketState;
  /** Takes a token if there is one. @returns whether there was one. */
  take(key: string): boolean;
  /** Gives back a token that was not used. */
  refund(key: string): void;
  /** Moves the bucket of one key to another key. */
  rename(from: string, to: string): void;
  has(key: string): boolean;
}

interface Options extends Rate {
  /** The time of a monotonic clock in milliseconds. */
  now: () => number;
  /** Maximum number of buckets, so a flood of random keys cannot exhaust the memory. */
  maxKeys?: number;
}

export function createTokenBuckets({ amount, seconds, now, maxKeys = 100_000 }: Options): TokenBuckets {
  const windowMs = seconds * 1_000;
  const tokenMs = windowMs / amount;
  // Keys are in the order of their last use, so the first buckets are roughly the fullest.
  const fullAt = new Map<string, number>();

  function debtMs(key: string): number {
    return Math.max((fullAt.get(key) ?? 0) - now(), 0);
  }

  function put(key: string, debt: number): void {
    fullAt.delete(key);
    if (debt <= 0) return;
    fullAt.set(key, now() + debt);
    evictFull();
    if (fullAt.size <= maxKeys) return;
    const [first = ''] = fullAt.keys();
    fullAt.delete(first);
  }

  /**
   * Deletes up to two full buckets with every write, so they are deleted at least as fast as buckets are added, without
   * a timer.
   */
  function evictFull(): void {
    let deleted = 0;
    for (const [key, time] of fullAt) {
      if (time > now()) return;
      fullAt.delete(key);
      deleted += 1;
      if (deleted === 2) return;
    }
  }

  function peek(key: string): BucketState {
    const debt = debtMs(key);
    // A tolerance of a thousandth of a token is added, because floating-point sums are not exact.
    const tokens = (windowMs - debt) / tokenMs + 0.001;
    const missingMs = tokens >= 1 ? 0 : (1 - tokens) * tokenMs;
    return { remaining: Math.floor(tokens), waitMs: Math.ceil(missingMs), refillMs: Math.ceil(debt) };
  }

  return {
    peek,
    take(key) {
      if (peek(key).remaining < 1) return false;
      put(key, debtMs(key) + tokenMs);
      return true;
    },
    refund: (key) => put(key, debtMs(key) - tokenMs),
    rename(from, to) {
      const debt = debtMs(from);
      fullAt.delete(from);
      put(to, debt);
    },
    has: (key) => fullAt.has(key),
  };
}

/** Moves a network's bucket from its key with the previous salt to its current key. @returns the current key. */
export function migrateKey({ current, previous }: NetworkKey, buckets: TokenBuckets): string {
  if (!buckets.has(current)) {
    const older = previous();
    if (older !== undefined && buckets.has(older)) buckets.rename(older, current);
  }
  return current;
}

/** A bucket, and whether it belongs to an IPv6 /48. */
interface NetworkBucket {
  buckets: TokenBuckets;
  key: string;
  is48: boolean;
}

/**
 * Creates token buckets per network and per IPv6 /48, which has `PREFIX_48_LIMIT_FACTOR` times as many tokens.
 * @returns a function that returns the bucket of the network of an address and, for IPv6, also the bucket of its /48.
 */
export function createNetworkBuckets(options: Options): (address: string | undefined) => NetworkBucket[] {
  const networks = createTokenBuckets(options);
  const whole48s = createTokenBuckets({ ...options, amount: options.amount * PREFIX_48_LIMIT_FACTOR });
  const keys = createNetworkKeys(options.now);
  const keys48 = createNetworkKeys(options.now, prefix48);
  return (address) => {
    const network = { buckets: networks, key: migrateKey(keys(address), networks), is48: false };
    if (prefix48(address).length === 0) return [network];
    return [network, { buckets: whole48s, key: migrateKey(keys48(address), whole48s), is48: true }];
  };
}
