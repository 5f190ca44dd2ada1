import type { LimitedAction, Rate, RateLimits } from '../../settings/rate-limits.ts';
import { createNetworkKeys, type NetworkKey, type NetworkKeys, sitePrefix } from './network-keys.ts';
import { createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

/** The client: its session if valid, and its address. */
export interface Visitor {
  session: string | undefined;
  address: string | undefined;
}

export type Scope = 'session' | 'network';

/** One limit after the request, for the headers. */
export interface LimitState extends Rate {
  scope: Scope;
  remaining: number;
  refillMs: number;
}

export interface Charge {
  /** The limits that have no token left for the request; none if it may pass. */
  exceeded: Scope[];
  waitMs: number;
  limits: LimitState[];
}

export interface RateLimiter {
  /**
   * Takes a token from each limit of the action, or from none if one is empty, so a refusal costs no token. `ignoring`
   * leaves one limit out, whose bucket stays unchanged.
   */
  charge(action: LimitedAction, visitor: Visitor, options?: { ignoring?: Scope }): Charge;
  /** The number of buckets, of sessions and networks together. */
  size(): number;
}

/** One limit, as it applies to one visitor. */
interface Applied {
  scope: Scope;
  rate: Rate;
  buckets: TokenBuckets;
  key: string;
  /** Not reported to clients. */
  isSite?: boolean;
}

/** The limit of all networks of one IPv6 /48 together, as a multiple of one network's. */
const SITE_FACTOR = 8;

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
      {
        session: bucketsOf(session),
        network: bucketsOf(network),
        site: bucketsOf({ ...network, amount: network.amount * SITE_FACTOR }),
      },
    ]),
  );

  const siteKeys = createNetworkKeys(now, sitePrefix);

  function applied(action: LimitedAction, { session, address }: Visitor): Applied[] {
    const scopes = byAction.get(action);
    const found: Applied[] = [];
    if (scopes?.session && session !== undefined) found.push({ scope: 'session', ...scopes.session, key: session });
    if (scopes?.network) {
      const key = migrateKey(networkKeys(address), scopes.network.buckets);
      found.push({ scope: 'network', ...scopes.network, key });
    }
    if (scopes?.site && sitePrefix(address).length > 0) {
      const key = migrateKey(siteKeys(address), scopes.site.buckets);
      found.push({ scope: 'network', ...scopes.site, key, isSite: true });
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
        exceeded: [...new Set(empty.map(({ scope }) => scope))],
        waitMs: Math.max(0, ...empty.map(({ buckets, key }) => buckets.look(key).waitMs)),
        limits: all
          .filter(({ isSite }) => !isSite)
          .map(({ scope, rate, buckets, key }) => ({ scope, ...rate, ...buckets.look(key) })),
      };
    },
    size: () =>
      [...byAction.values()].reduce(
        (sum, scopes) => sum + Object.values(scopes).reduce((all, scope) => all + (scope?.buckets.size() ?? 0), 0),
        0,
      ),
  };
}

/** The network's current key; its bucket moves from the key under the previous salt. */
export function migrateKey({ current, previous }: NetworkKey, buckets: TokenBuckets): string {
  if (!buckets.has(current)) {
    const older = previous();
    if (older !== undefined && buckets.has(older)) buckets.rename(older, current);
  }
  return current;
}
