import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { NO_STORE } from '../http/caching.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import type { SiteMetrics } from './site-metrics.ts';

/** Adds `GET /metrics`, for those who bring the token where there is one. */
export function addMetricsRoute(
  app: FastifyInstance,
  metrics: Pick<SiteMetrics, 'contentType' | 'text'>,
  token: string | undefined,
): void {
  app.get('/metrics', async (request, reply) => {
    reply.header('Cache-Control', NO_STORE);
    if (token !== undefined && !bearsToken(request.headers.authorization, token)) {
      reply.code(401).header('WWW-Authenticate', 'Bearer').type(PROBLEM_MEDIA_TYPE);
      return JSON.stringify(problem('token_required', 'The metrics need the token of this site, as a bearer token'));
    }
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

/** Compares digests, so that the time it takes tells nothing about the token. */
function bearsToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const brought = /^Bearer +(.*)$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(brought), digest(token));
}
