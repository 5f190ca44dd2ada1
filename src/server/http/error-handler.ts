import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ProblemCode } from '../../contract/problem.ts';
import { CoreError } from '../../core/core-error.ts';
import { problem } from './problems.ts';
import { requestIdOf } from './request-id.ts';
import { sendProblem } from './send-problem.ts';

/** How long a client should leave a database that is away, or a queue that is full, alone. */
const RETRY_AFTER_S = 2;

/** What Fastify refuses before a handler runs. */
const FRAMEWORK_CODES: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than 16 KiB'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['bad_request', 'The body is not valid JSON'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['bad_request', 'The address is not a valid URL'],
};

/** The one place that turns errors into answers: what a caller may know is said, the rest is logged and hidden. */
export function handleError(
  error: FastifyError | CoreError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const [code, detail] = explain(error);
  const body = problem(code, detail);
  if (body.status >= 500 && code !== 'not_implemented') {
    request.log.error({ err: error, requestId: requestIdOf(request) }, 'Request failed');
  }
  if (body.status === 503) reply.header('Retry-After', RETRY_AFTER_S);
  return sendProblem(body, request, reply);
}

function explain(error: FastifyError | CoreError | Error): [ProblemCode, string] {
  if (error instanceof CoreError) return [error.code, error.message];
  if ('validation' in error && error.validation) return ['bad_request', error.message];
  const known = FRAMEWORK_CODES[('code' in error && error.code) || ''];
  if (known) return known;
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status !== undefined && status >= 400 && status < 500) return ['bad_request', error.message];
  return ['internal', 'Something went wrong on our side. Please try again.'];
}
