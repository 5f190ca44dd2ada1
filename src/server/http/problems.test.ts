import { expect, test } from 'vitest';
import { PROBLEM_CODES, type ProblemCode, ProblemSchema } from '../../contract/problem.ts';
import { problem } from './problems.ts';

const STATUSES: Record<ProblemCode, number> = {
  bad_request: 400,
  session_required: 400,
  token_required: 401,
  not_signed_in: 401,
  sign_in_failed: 401,
  invitation_invalid: 410,
  passphrase_too_short: 422,
  cross_origin: 403,
  product_changed: 409,
  product_invalid: 422,
  not_undoable: 409,
  bad_cursor: 400,
  bad_period: 400,
  too_many_products: 400,
  comment_incomplete: 400,
  comment_too_long: 422,
  comment_id_required: 400,
  idempotency_key_invalid: 400,
  idempotency_key_reused: 422,
  product_not_found: 404,
  comment_not_found: 404,
  period_not_found: 404,
  submission_invalid: 422,
  submission_not_found: 404,
  submission_changed: 409,
  submission_withdrawn: 409,
  already_launched: 409,
  already_decided: 409,
  id_taken: 409,
  screenshot_not_found: 404,
  too_many_waiting: 429,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  picture_unusable: 422,
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
  const errors = [{ field: 'name', detail: 'A name is needed' }];
  const body = problem(code, 'Why.', errors);
  expect(body).toEqual({
    type: 'about:blank',
    title: expect.stringMatching(/^[A-Z][A-Za-z ]+$/),
    status: STATUSES[code],
    detail: 'Why.',
    code,
    errors,
  });
  expect(problem(code, 'Why.')).not.toHaveProperty('errors');
  expect(Object.keys(body).sort()).toEqual(Object.keys(ProblemSchema.properties).sort());
});
