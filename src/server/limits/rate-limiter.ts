import type { LimitedAction, Rate, RateLimits } from '../../settings/rate-limits.ts';
import { createNetworkKeys, type NetworkKey, type NetworkKeys } from './network-keys.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

/** Who does something: the session where there is a good one, and the address that it comes from. */
export interface Visitor {
  session: string | undefined;
  address: string | undefined;
}

export type Scope = 'session' | 'network';

/** One limit as it stands after the request, for the headers that tell. */
export interface LimitState extends Rate {
  scope: Scope;
  remaining: number;
  refillMs: number;
}

export interface Charge {
  /** Those limits that have no token left for the request; none where it may pass. */
  exceeded: Scope[];
  waitMs: number;
  limits: LimitState[];
}

export interface RateLimiter {
  /**
   * Takes a token from each limit of the action, or from none where one of them has none: what is refused costs nothing.
   * `ignoring` leaves one limit out, whose bucket then stays as it is.
   */
  charge(action: LimitedAction, visitor: Visitor, options?: { ignoring?: Scope }): Charge;
  /** How many buckets are kept, of sessions and networks together. */
  size(): number;
}

/** One limit, as it applies to one visitor. */
interface Applied {
  scope: Scope;
  rate: Rate;
  buckets: TokenBuckets;
  key: string;
}

/** Token buckets for every action, per session and per network. */
export function createRateLimiter(
  limits: RateLimits,
  now: () => number,
  networkKeys: NetworkKeys = createNetworkKeys(now),
  maxKeys?: number,
): RateLimiter {
  const bucketsOf = (rate: Rate | undefined) =>
    rate && { rate, buckets: createTokenBuckets({ ...rate, now, ...(maxKeys === undefined ? {} : { maxKeys }) }) };
  const byAction = new Map(
    Object.entries(limits).map(([action, { session, network }]) => [
      action,
      { session: bucketsOf(session), network: bucketsOf(network) },
    ]),
  );

  function applied(action: LimitedAction, { session, address }: Visitor): Applied[] {
    const scopes = byAction.get(action);
    const found: Applied[] = [];
    if (scopes?.session && session !== undefined) found.push({ scope: 'session', ...scopes.session, key: session });
    if (scopes?.network) {
      const key = settle(networkKeys(address), scopes.network.buckets);
      found.push({ scope: 'network', ...scopes.network, key });
    }
    return found;
  }

  return {
    charge(action, visitor, { ignoring } = {}) {
      const all = applied(action, visitor);
      const counting = all.filter(({ scope }) => scope !== ignoring);
      const empty = counting.filter(({ buckets, key }) => buckets.look(key).remaining < 1);
      if (empty.length === 0) for (const { buckets, key } of counting) buckets.take(key);
      return {
        exceeded: empty.map(({ scope }) => scope),
        waitMs: Math.max(0, ...empty.map(({ buckets, key }) => buckets.look(key).waitMs)),
        limits: all.map(({ scope, rate, buckets, key }) => ({ scope, ...rate, ...buckets.look(key) })),
      };
    },
    size: () =>
      [...byAction.values()].reduce(
        (sum, { session, network }) => sum + (session?.buckets.size() ?? 0) + (network?.buckets.size() ?? 0),
        0,
      ),
  };
}

/** The key under which a network's bucket is kept now, where it goes on from what it was under the salt before. */
export function settle({ current, previous }: NetworkKey, buckets: TokenBuckets): string {
  if (!buckets.has(current)) {
    const older = previous();
    if (older !== undefined && buckets.has(older)) buckets.rename(older, current);
  }
  return current;
}
