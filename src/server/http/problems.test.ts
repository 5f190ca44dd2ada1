import { expect, test } from 'vitest';
import { PROBLEM_CODES, type ProblemCode, ProblemSchema } from '../../contract/problem.ts';
import { problem } from './problems.ts';

const STATUSES: Record<ProblemCode, number> = {
  bad_request: 400,
  session_required: 400,
  token_required: 401,
  bad_cursor: 400,
  too_many_products: 400,
  comment_incomplete: 400,
  comment_too_long: 422,
  comment_id_required: 400,
  idempotency_key_invalid: 400,
  product_not_found: 404,
  comment_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  request_timeout: 408,
  uri_too_long: 414,
  headers_too_large: 431,
  not_implemented: 501,
  unavailable: 503,
  overloaded: 503,
  internal: 500,
};

test.each(PROBLEM_CODES)('%s has its status, a title, and the members of RFC 9457', (code) => {
  const body = problem(code, 'Why.');
  expect(body).toEqual({
    type: 'about:blank',
    title: expect.stringMatching(/^[A-Z][A-Za-z ]+$/),
    status: STATUSES[code],
    detail: 'Why.',
    code,
  });
  expect(Object.keys(body).sort()).toEqual(Object.keys(ProblemSchema.properties).sort());
});
