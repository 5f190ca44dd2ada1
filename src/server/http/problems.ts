import type { FastifyReply, FastifyRequest } from 'fastify';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { FieldError, Problem, ProblemCode } from '../../contract/problem.ts';
import { NO_STORE } from './cache-control.ts';

/** The HTTP status and the title of each code. As RFC 9457 recommends, every problem of a kind has the same title. */
const KINDS: Record<ProblemCode, { status: number; title: string }> = {
  bad_request: { status: 400, title: 'Bad request' },
  session_required: { status: 400, title: 'Visitor session required' },
  token_required: { status: 401, title: 'Token required' },
  not_signed_in: { status: 401, title: 'Not signed in' },
  sign_in_failed: { status: 401, title: 'Wrong name or passphrase' },
  invitation_invalid: { status: 410, title: 'Invitation no longer valid' },
  passphrase_too_short: { status: 422, title: 'Passphrase too short' },
  cross_origin: { status: 403, title: 'Request from another origin' },
  product_changed: { status: 409, title: 'Product changed' },
  not_undoable: { status: 409, title: 'Cannot be undone' },
  product_invalid: { status: 422, title: 'Invalid product' },
  bad_cursor: { status: 400, title: 'Bad cursor' },
  bad_period: { status: 400, title: 'Bad period' },
  too_many_products: { status: 400, title: 'Too many products' },
  comment_incomplete: { status: 400, title: 'Incomplete comment' },
  comment_too_long: { status: 422, title: 'Comment too long' },
  comment_id_required: { status: 400, title: 'Comment ID required' },
  idempotency_key_invalid: { status: 400, title: 'Invalid idempotency key' },
  idempotency_key_reused: { status: 422, title: 'Idempotency key reused' },
  product_not_found: { status: 404, title: 'Product not found' },
  comment_not_found: { status: 404, title: COMMENT_MESSAGES.notFound },
  period_not_found: { status: 404, title: 'Period not found' },
  submission_invalid: { status: 422, title: 'Invalid submission' },
  submission_not_found: { status: 404, title: 'Submission not found' },
  submission_changed: { status: 409, title: 'Submission changed' },
  submission_withdrawn: { status: 409, title: 'Submission withdrawn' },
  already_launched: { status: 409, title: 'Already launched' },
  already_decided: { status: 409, title: 'Already decided' },
  id_taken: { status: 409, title: 'Id taken' },
  screenshot_not_found: { status: 404, title: 'Screenshot not found' },
  too_many_waiting: { status: 429, title: 'Too many waiting submissions' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  body_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  picture_unusable: { status: 422, title: 'Unusable picture' },
  rate_limited: { status: 429, title: 'Too many requests' },
  request_timeout: { status: 408, title: 'Request timeout' },
  uri_too_long: { status: 414, title: 'URL too long' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  not_implemented: { status: 501, title: 'Not implemented' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  overloaded: { status: 503, title: 'Overloaded' },
  internal: { status: 500, title: 'Internal error' },
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json; charset=utf-8';

/** Returns the body of an error response; `detail` is a human-readable explanation. */
export function problem(code: ProblemCode, detail: string, errors?: readonly FieldError[]): Problem {
  // `about:blank` is RFC 9457's type for a problem that its status and title already describe.
  return { type: 'about:blank', ...KINDS[code], detail, code, ...(errors && { errors: [...errors] }) };
}

/** Sends a problem. Its `X-Request-Id` lets the operator find the request in the log. */
export function sendProblem(body: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .code(body.status)
    .type(PROBLEM_MEDIA_TYPE)
    .header('Cache-Control', NO_STORE)
    .header('X-Request-Id', request.id)
    .send(JSON.stringify(body));
}
