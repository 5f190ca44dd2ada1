import { type Static, Type } from 'typebox';

/** Stable error codes; clients may branch on them. */
export const PROBLEM_CODES = [
  'bad_request',
  'session_required',
  'token_required',
  'not_signed_in',
  'sign_in_failed',
  'invitation_invalid',
  'passphrase_too_short',
  'cross_origin',
  'product_changed',
  'product_invalid',
  'not_undoable',
  'bad_cursor',
  'bad_period',
  'too_many_products',
  'comment_incomplete',
  'comment_too_long',
  'comment_id_required',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'product_not_found',
  'comment_not_found',
  'period_not_found',
  'submission_invalid',
  'submission_not_found',
  'submission_changed',
  'submission_withdrawn',
  'already_launched',
  'already_decided',
  'id_taken',
  'screenshot_not_found',
  'too_many_waiting',
  'not_found',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'picture_unusable',
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

/** An error in one field of the request. */
const FieldErrorSchema = Type.Object({ field: Type.String(), detail: Type.String() }, { $id: 'FieldError' });

/** The body of every error response of the API: `application/problem+json` (RFC 9457) with a stable code. */
export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    /** A human-readable explanation. */
    detail: Type.String(),
    code: Type.String(),
    /** The invalid fields, if the code is `submission_invalid` or `product_invalid`. */
    errors: Type.Optional(Type.Array(FieldErrorSchema)),
  },
  { $id: 'Problem' },
);

export type FieldError = Static<typeof FieldErrorSchema>;
export type Problem = Static<typeof ProblemSchema>;
