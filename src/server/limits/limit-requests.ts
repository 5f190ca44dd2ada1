import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';
import type { LimitedAction } from '../../settings/rate-limits.ts';
import { knownSessionOf } from '../http/request-keys.ts';
import { createNetworkKeys } from './network-keys.ts';
import { type Charge, createTokenBuckets, type LimitState, type RateLimiter, type Scope } from './rate-limiter.ts';

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
 * @throws CoreError `rate_limited`
 */
export type ChargeRequest = (action: LimitedAction, request: FastifyRequest, reply?: FastifyReply) => void;

/**
 * Limits the requests to every route whose config contains a `limit`, before the body is read. Without a limiter,
 * nothing is limited. Refusals of clients that ignore earlier refusals are delayed (see `createTarpit`).
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
  if (limiter === undefined) return () => {};
  return (action, request, reply) => applyCharge(chargeOf(limiter, action, request), reply);
}

function chargeOf(limiter: RateLimiter, action: LimitedAction, request: FastifyRequest, ignoring?: Scope): Charge {
  const visitor = { session: knownSessionOf(request), address: request.ip };
  return limiter.charge(action, visitor, ignoring ? { ignoring } : {});
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

/** Delays the refusals of clients that continue to send requests after many refusals. */
interface Tarpit {
  /** Resolves immediately for a network with few refusals, and after a delay for a network with many. */
  hold(address: string | undefined): Promise<void>;
}

/** Refusals per network that are sent without delay. An office that votes together stays below this number. */
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
