import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Problem, ProblemCode } from '../../contract/problem.ts';

/** The HTTP status of each code, and the title that RFC 9457 wants: the same for every problem of its kind. */
const KINDS: Record<ProblemCode, { status: number; title: string }> = {
  bad_request: { status: 400, title: 'Bad request' },
  session_required: { status: 400, title: 'Visitor session required' },
  token_required: { status: 401, title: 'Token required' },
  bad_cursor: { status: 400, title: 'Bad cursor' },
  too_many_products: { status: 400, title: 'Too many products' },
  comment_incomplete: { status: 400, title: 'Incomplete comment' },
  comment_too_long: { status: 422, title: 'Comment too long' },
  comment_id_required: { status: 400, title: 'Comment ID required' },
  idempotency_key_invalid: { status: 400, title: 'Invalid idempotency key' },
  product_not_found: { status: 404, title: 'Product not found' },
  comment_not_found: { status: 404, title: COMMENT_MESSAGES.notFound },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  body_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  rate_limited: { status: 429, title: 'Too many requests' },
  request_timeout: { status: 408, title: 'Request timeout' },
  uri_too_long: { status: 414, title: 'Address too long' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  not_implemented: { status: 501, title: 'Not implemented' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
  overloaded: { status: 503, title: 'Overloaded' },
  internal: { status: 500, title: 'Internal error' },
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json; charset=utf-8';

/** The body of an error answer; `detail` is a sentence that a person may read. */
export function problem(code: ProblemCode, detail: string): Problem {
  // `about:blank` is what RFC 9457 gives for a problem that its status and title already name.
  return { type: 'about:blank', ...KINDS[code], detail, code };
}
