import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CoreError } from '../../core/core-error.ts';
import type { LimitedAction } from '../../settings/rate-limits.ts';
import { knownSessionOf } from '../http/session.ts';
import type { Charge, LimitState, RateLimiter, Scope } from './rate-limiter.ts';
import { createTarpit } from './tarpit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: RouteLimit;
  }
}

/** What a route says about itself. */
export interface RouteLimit {
  action: LimitedAction;
  /** Asked when the network alone is over its limit: whether this request may pass nevertheless. */
  passesBusyNetwork?: (request: FastifyRequest) => Promise<boolean>;
}

/** Counts a request against the limits of an action. @throws CoreError `rate_limited`, with the headers already set. */
export type ChargeRequest = (action: LimitedAction, request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Limits every route whose config names an action, before its body is read; without a limiter, nothing is limited. Who goes
 * on asking although refused waits in the tarpit.
 */
export function limitRequests(app: FastifyInstance, limiter: RateLimiter | undefined): void {
  if (limiter === undefined) return;
  const tarpit = createTarpit(Date.now);
  app.addHook('onRequest', async (request, reply) => {
    const limit = request.routeOptions.config.limit;
    if (limit === undefined) return;
    let charge = chargeOf(limiter, limit.action, request);
    if (isOnly('network', charge.exceeded) && (await limit.passesBusyNetwork?.(request))) {
      charge = chargeOf(limiter, limit.action, request, 'network');
    }
    if (charge.exceeded.length > 0) await tarpit.hold(request.ip);
    settle(charge, reply);
  });
}

/** For what only the handler knows to be limited, such as a search that no cache answers. */
export function chargeWith(limiter: RateLimiter | undefined): ChargeRequest {
  if (limiter === undefined) return () => {};
  return (action, request, reply) => settle(chargeOf(limiter, action, request), reply);
}

function chargeOf(limiter: RateLimiter, action: LimitedAction, request: FastifyRequest, ignoring?: Scope): Charge {
  const visitor = { session: knownSessionOf(request), address: request.ip };
  return limiter.charge(action, visitor, ignoring ? { ignoring } : {});
}

function isOnly(scope: Scope, exceeded: readonly Scope[]): boolean {
  return exceeded.length === 1 && exceeded[0] === scope;
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-11, and a refusal where there is one. */
function settle({ exceeded, waitMs, limits }: Charge, reply: FastifyReply): void {
  reply.header('RateLimit-Policy', limits.map(policyItem).join(', '));
  reply.header('RateLimit', limits.map(stateItem).join(', '));
  if (exceeded.length === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  reply.header('Retry-After', seconds);
  throw new CoreError(
    'rate_limited',
    `Too many requests ${exceeded.includes('session') ? 'from this visitor' : 'from this network'}. Please try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`,
  );
}

const policyItem = ({ scope, amount, seconds }: LimitState) => `"${scope}";q=${amount};w=${seconds}`;
const stateItem = ({ scope, remaining, refillMs }: LimitState) =>
  `"${scope}";r=${remaining};t=${Math.ceil(refillMs / 1_000)}`;
