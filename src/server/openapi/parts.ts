import { IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_PATTERN } from '../../contract/comments/idempotency.ts';
import { SESSION_HEADER, SESSION_PATTERN } from '../../contract/session.ts';
import { SESSION_EXAMPLE } from './examples.ts';

const text = { type: 'string' };

/** Request headers that routes read, which no schema of theirs names. */
export const PARAMETERS = {
  Session: {
    name: SESSION_HEADER,
    in: 'header',
    required: true,
    description:
      "Names the anonymous visitor: an unguessable id that the visitor's own program makes and keeps. Whoever knows it acts as that visitor.",
    schema: { type: 'string', pattern: SESSION_PATTERN },
    example: SESSION_EXAMPLE,
  },
  IdempotencyKey: {
    name: IDEMPOTENCY_HEADER,
    in: 'header',
    description:
      'Names the draft: sent again within 24 hours by the same session, it answers with the comment that it made first.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
    example: 'draft-1',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the version that the client has: 304 while it is the present one.',
    schema: text,
    example: '"h4Zd0yOLrVbZfNsmPzQyWQ-br"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The id of the last frame that came, as a reconnecting `EventSource` sends it; counts instead of `since`.',
    schema: text,
    example: '1795201200000',
  },
} as const;

/** Response headers. */
export const HEADERS = {
  ETag: {
    description: 'The version of this answer in this encoding; strong.',
    schema: text,
    example: '"h4Zd0yOLrVbZfNsmPzQyWQ-br"',
  },
  CacheControl: {
    description: 'Whether and for how long the answer may be kept.',
    schema: text,
    example: 'public, no-cache',
  },
  RateLimit: {
    description: 'What is left of each limit (draft-ietf-httpapi-ratelimit-headers).',
    schema: text,
    example: '"session";r=119;t=1, "network";r=587;t=2',
  },
  RateLimitPolicy: { description: 'The limits.', schema: text, example: '"session";q=120;w=60, "network";q=600;w=60' },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 0 }, example: 2 },
} as const;

export const parameterRef = (name: keyof typeof PARAMETERS) => ({ $ref: `#/components/parameters/${name}` });
export const headerRef = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
