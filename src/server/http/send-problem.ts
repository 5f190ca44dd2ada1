import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../../contract/problem.ts';
import { NO_STORE } from './caching.ts';
import { PROBLEM_MEDIA_TYPE } from './problems.ts';
import { requestIdOf } from './request-id.ts';

/** Answers with a problem; `X-Request-Id` is what to ask the operator by, who finds it in the log. */
export function sendProblem(body: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .code(body.status)
    .type(PROBLEM_MEDIA_TYPE)
    .header('Cache-Control', NO_STORE)
    .header('X-Request-Id', requestIdOf(request))
    .send(JSON.stringify(body));
}
