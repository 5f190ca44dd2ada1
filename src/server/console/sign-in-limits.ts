import { CoreError } from '../../core/core-error.ts';
import { createNetworkKeys, sitePrefix } from '../limits/network-keys.ts';
import { migrateKey } from '../limits/rate-limiter.ts';
import { createTokenBuckets, type TokenBuckets } from '../limits/token-buckets.ts';

/** The source of a sign-in attempt. */
export interface SignInAttempt {
  name: string;
  address: string | undefined;
  /** The token of a browser in which this operator signed in before; undefined for any other browser. */
  knownDevice: string | undefined;
}

export interface SignInLimits {
  /**
   * Takes a guess from every limit that applies.
   * @returns a function that gives it back after a success.
   * @throws CoreError `rate_limited`.
   */
  charge(attempt: SignInAttempt): { giveBack(): void };
}

/** Guesses of one network (and eight times as many of a whole IPv6 /48) at any name. */
const PER_NETWORK = { amount: 10, seconds: 10 * 60 };
const SITE_FACTOR = 8;
/** Guesses at one name from all unknown browsers, which bounds many networks together. */
const PER_NAME = { amount: 60, seconds: 60 * 60 };
/** Guesses in a browser known to the name. */
const PER_DEVICE = { amount: 10, seconds: 10 * 60 };

/**
 * Limits on guessing passphrases, in memory, and never off. Attackers can use up the guesses of their networks and of a
 * name, but not those of the operator's known browsers. An operator with a new browser waits, or runs `groundswell
 * console invite`. Unknown names are counted alike, so a refusal reveals nothing.
 */
export function createSignInLimits(monotonicMs: () => number): SignInLimits {
  const networks = createTokenBuckets({ ...PER_NETWORK, now: monotonicMs });
  const sites = createTokenBuckets({ ...PER_NETWORK, amount: PER_NETWORK.amount * SITE_FACTOR, now: monotonicMs });
  const names = createTokenBuckets({ ...PER_NAME, now: monotonicMs });
  const devices = createTokenBuckets({ ...PER_DEVICE, now: monotonicMs });
  const networkKeys = createNetworkKeys(monotonicMs);
  const siteKeys = createNetworkKeys(monotonicMs, sitePrefix);

  function limitsOf({ name, address, knownDevice }: SignInAttempt): [TokenBuckets, string][] {
    if (knownDevice !== undefined) return [[devices, knownDevice]];
    const isSite = sitePrefix(address).length > 0;
    return [
      [networks, migrateKey(networkKeys(address), networks)],
      ...(isSite ? [[sites, migrateKey(siteKeys(address), sites)] satisfies [TokenBuckets, string]] : []),
      [names, name],
    ];
  }

  return {
    charge(attempt) {
      const limits = limitsOf(attempt);
      const waitMs = Math.max(...limits.map(([buckets, key]) => buckets.look(key).waitMs));
      if (waitMs > 0) {
        const minutes = Math.ceil(waitMs / 60_000);
        throw new CoreError(
          'rate_limited',
          `Too many attempts. Please try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
        );
      }
      for (const [buckets, key] of limits) buckets.take(key);
      return { giveBack: () => limits.forEach(([buckets, key]) => void buckets.giveBack(key)) };
    },
  };
}
