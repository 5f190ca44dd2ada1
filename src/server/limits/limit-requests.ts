import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';
import type { LimitedAction, Rate, RateLimits } from '../../settings/rate-limits.ts';
import { knownSessionOf } from '../http/request-keys.ts';
import { createNetworkKeys } from './network-keys.ts';
import { createNetworkBuckets, createTokenBuckets, type TokenBuckets } from './token-buckets.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: RouteLimit;
  }
}

/** The limit in a route's config. */
interface RouteLimit {
  action: LimitedAction;
  /** Called if only the network is over its limit. @returns whether the request may pass anyway. */
  passesBusyNetwork?: (request: FastifyRequest) => Promise<boolean>;
}

/**
 * Counts a request against the limits of an action, and sets the rate-limit headers on `reply`.
 * @returns a function that reverts the charge. @throws CoreError `rate_limited`
 */
export type ChargeRequest = (action: LimitedAction, request: FastifyRequest, reply?: FastifyReply) => () => void;

/**
 * Limits the requests to every route whose config contains a `limit`, before the body is read. Without a limiter,
 * nothing is limited. For clients that ignore earlier refusals, further refusals are delayed (see `createTarpit`).
 */
export function limitRequests(app: FastifyInstance, limiter: RateLimiter | undefined, monotonicMs: () => number): void {
  if (limiter === undefined) return;
  const tarpit = createTarpit(monotonicMs);
  app.addHook('onRequest', async (request, reply) => {
    const limit = request.routeOptions.config.limit;
    if (limit === undefined) return;
    let charge = chargeOf(limiter, limit.action, request);
    if (isOnly('network', charge.exceeded) && (await limit.passesBusyNetwork?.(request))) {
      charge = chargeOf(limiter, limit.action, request, 'network');
    }
    if (charge.exceeded.length > 0) await tarpit.hold(request.ip);
    applyCharge(charge, reply);
  });
}

/** Returns a function with which handlers limit some of their requests, such as uncached searches. */
export function chargeWith(limiter: RateLimiter | undefined): ChargeRequest {
  if (limiter === undefined) return () => () => {};
  return (action, request, reply) => {
    const charge = chargeOf(limiter, action, request);
    applyCharge(charge, reply);
    return charge.refund;
  };
}

function chargeOf(limiter: RateLimiter, action: LimitedAction, request: FastifyRequest, ignoring?: Scope): Charge {
  return limiter.charge(action, { session: knownSessionOf(request), address: request.ip }, ignoring);
}

function isOnly(scope: Scope, exceeded: readonly Scope[]): boolean {
  return exceeded.length === 1 && exceeded[0] === scope;
}

/** Sets the header fields of draft-ietf-httpapi-ratelimit-headers-11. @throws CoreError if the request is refused. */
function applyCharge({ exceeded, waitMs, limits }: Charge, reply?: FastifyReply): void {
  reply?.header('RateLimit-Policy', limits.map(policyItem).join(', '));
  reply?.header('RateLimit', limits.map(stateItem).join(', '));
  if (exceeded.length === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  reply?.header('Retry-After', seconds);
  throw new CoreError(
    'rate_limited',
    `Too many requests ${exceeded.includes('session') ? 'from this visitor' : 'from this network'}. Please try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
  );
}

const policyItem = ({ scope, amount, seconds }: LimitState) => `"${scope}";q=${amount};w=${seconds}`;
const stateItem = ({ scope, remaining, refillMs }: LimitState) =>
  `"${scope}";r=${remaining};t=${Math.ceil(refillMs / 1_000)}`;

/** A client: its session id, if it sent a valid one, and its IP address. */
export interface Visitor {
  session: string | undefined;
  address: string | undefined;
}

type Scope = 'session' | 'network';

/** The state of one limit after the request, for the headers. */
interface LimitState extends Rate {
  scope: Scope;
  remaining: number;
  refillMs: number;
}

interface Charge {
  /** The limits that have no token left for the request; empty if the request may pass. */
  exceeded: Scope[];
  waitMs: number;
  limits: LimitState[];
  /** Gives back the tokens that were taken. Call it at most once. */
  refund(): void;
}

interface RateLimiter {
  /**
   * Takes a token from each limit of the action, or from none if one is empty, so a refusal costs no token. `ignoring`
   * skips the limits of one scope and leaves their buckets unchanged.
   */
  charge(action: LimitedAction, visitor: Visitor, ignoring?: Scope): Charge;
}

/** One limit, as it applies to one visitor. */
interface Applied {
  scope: Scope;
  rate: Rate;
  buckets: TokenBuckets;
  key: string;
  /** Whether this is the limit of an IPv6 /48, which is not reported to clients. */
  is48?: boolean;
}

/**
 * Creates token buckets for every action: per session, per network and per IPv6 /48. `now` returns the time of a
 * monotonic clock in milliseconds.
 */
export function createRateLimiter(limits: RateLimits, now: () => number): RateLimiter {
  const byAction = new Map(
    Object.entries(limits).map(([action, { session, network }]) => [
      action,
      {
        session: session && { rate: session, buckets: createTokenBuckets({ ...session, now }) },
        network: { rate: network, buckets: createNetworkBuckets({ ...network, now }) },
      },
    ]),
  );

  function applied(action: LimitedAction, { session, address }: Visitor): Applied[] {
    const scopes = byAction.get(action);
    const found: Applied[] = [];
    if (scopes?.session && session !== undefined) found.push({ scope: 'session', ...scopes.session, key: session });
    if (scopes) {
      const { rate, buckets } = scopes.network;
      for (const bucket of buckets(address)) found.push({ scope: 'network', rate, ...bucket });
    }
    return found;
  }

  return {
    charge(action, visitor, ignoring) {
      const all = applied(action, visitor);
      const counting = all.filter(({ scope }) => scope !== ignoring);
      const empty = counting.filter(({ buckets, key }) => buckets.peek(key).remaining < 1);
      const taken = empty.length === 0 ? counting : [];
      for (const { buckets, key } of taken) buckets.take(key);
      return {
        exceeded: [...new Set(empty.map(({ scope }) => scope))],
        waitMs: Math.max(0, ...empty.map(({ buckets, key }) => buckets.peek(key).waitMs)),
        limits: all
          .filter(({ is48 }) => !is48)
          .map(({ scope, rate, buckets, key }) => ({ scope, ...rate, ...buckets.peek(key) })),
        refund() {
          for (const { buckets, key } of taken) buckets.refund(key);
        },
      };
    },
  };
}

/** Delays refusals for clients that continue to send requests after many refusals. */
interface Tarpit {
  /** Resolves immediately for a network within `ALLOWED_REFUSALS`, and after a delay for any other network. */
  hold(address: string | undefined): Promise<void>;
}

/**
 * Refusals per network and minute that are sent without delay. An office that votes together stays below this number.
 */
const ALLOWED_REFUSALS = { amount: 300, seconds: 60 };
const HOLD_MS = 1_000;
/** Maximum number of delayed refusals, since each occupies memory. Further refusals are sent without delay. */
const MAX_HELD = 2_000;

/**
 * Delays refusals, because a client that retries without pause over many connections would keep the processor busy.
 * With a delay of a second, a hundred connections send a hundred requests a second instead of thousands.
 */
export function createTarpit(now: () => number, holdMs = HOLD_MS): Tarpit {
  const networkKeys = createNetworkKeys(now);
  const refusals = createTokenBuckets({ ...ALLOWED_REFUSALS, now });
  let held = 0;
  return {
    async hold(address) {
      if (refusals.take(networkKeys(address).current) || held >= MAX_HELD) return;
      held += 1;
      await sleep(holdMs);
      held -= 1;
    },
  };
}
