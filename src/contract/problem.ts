import { type Static, Type } from 'typebox';

/** Stable codes of what can go wrong; clients may branch on them. */
export const PROBLEM_CODES = [
  'bad_request',
  'session_required',
  'token_required',
  'bad_cursor',
  'too_many_products',
  'comment_incomplete',
  'comment_too_long',
  'comment_id_required',
  'idempotency_key_invalid',
  'product_not_found',
  'comment_not_found',
  'not_found',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'not_implemented',
  'unavailable',
  'overloaded',
  'internal',
] as const;

export type ProblemCode = (typeof PROBLEM_CODES)[number];

/** The body of every error answer: `application/problem+json` of RFC 9457, with a stable code beside it. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    /** A sentence that a person may read. */
    detail: Type.String(),
    code: Type.String(),
  },
  { $id: 'Problem' },
);

export type Problem = Static<typeof ProblemSchema>;
