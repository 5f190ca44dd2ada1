import type { TSchema } from 'typebox';
import { SESSION_HEADER, SESSION_PATTERN } from '../../contract/api.ts';
import {
  COMMENT_DEFAULTS,
  IDEMPOTENCY_HEADER,
  IDEMPOTENCY_KEY_HOURS,
  IDEMPOTENCY_KEY_PATTERN,
} from '../../contract/comments/defaults.ts';
import type { Comment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { fieldOf, PRODUCT_FIELD_NAMES } from '../../contract/products/fields.ts';
import type { Product, StoredProduct } from '../../contract/products/schema.ts';
import type { Submission } from '../../contract/submissions/schema.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The description of the operation, which every route of the API has. */
    operation?: Operation;
  }
}

/** The description of an operation, beyond the schemas of its route. */
export interface Operation {
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  needsSession?: true;
  /** Whether a maker key is required, or may be sent. */
  makerKey?: 'required' | 'optional' | undefined;
  takesIdempotencyKey?: true;
  takesLastEventId?: true;
  /** Whether the response is cacheable and has an ETag. */
  isCacheable?: true;
  /** Whether responses have rate-limit headers. Derived for routes whose config has a `limit`. */
  isRateLimited?: true;
  /** A description and an example of each parameter of the path and the query. */
  parameters?: Record<string, { description: string; example: string | number }>;
  bodyExample?: unknown;
  /** Whether the body is a picture, which has no schema. */
  takesPicture?: true;
  /**
   * Successful responses by status. `content` describes responses other than JSON; `data` is the schema of each event's
   * data, or of each line of JSON Lines.
   */
  responses: Record<number, { description: string; example?: unknown; content?: { type: string; data?: TSchema } }>;
  problems: readonly ProblemCode[];
}

export const TAGS = {
  Products: 'Products and their counts.',
  Leaderboards: `The ranked launches of a day, a week, a month or a year. Votes count during the first ${LIMITS.launchWindowHours} hours of each launch.`,
  Upvotes: 'A session has at most one upvote per product.',
  Comments: 'Comments on products, and their likes.',
  Submissions: 'Products that visitors submit for review, with a maker key instead of an account.',
  Moderation: 'What operators removed, hid, excluded, included or declined, and why.',
  Events: 'Live updates.',
  Reference: 'The description of this API.',
} as const;

export type Tag = keyof typeof TAGS;

/** The product in the examples of the API's description. */
export const PRODUCT_EXAMPLE: Product = {
  ...(Object.fromEntries(PRODUCT_FIELD_NAMES.map((name) => [name, fieldOf(name).example])) as StoredProduct),
  upvotes: 9,
  comments: 3,
};

export const COMMENT_EXAMPLE: Comment = {
  id: '192aa475-74ec-42ec-8c4d-df86fc7c97de',
  productId: 'git',
  authorName: 'You',
  authorAvatar: '/pictures/avatar-default.svg',
  authorBadge: null,
  content: 'Worktrees!',
  likes: 0,
  createdAt: '2026-11-20T19:44:32.119Z',
};

export const SUBMISSION_EXAMPLE: Submission = {
  id: 'tide-tables',
  status: 'scheduled',
  reason: null,
  revision: 2,
  productVersion: 'kq3vZt0yE5mXo1sW8cJ2Ab',
  launchAt: '2026-12-01T09:00:00.000Z',
  product: {
    ...PRODUCT_EXAMPLE,
    id: 'tide-tables',
    name: 'Tide tables',
    description: 'When to launch a boat.',
    tags: ['Sea'],
    category: 'Weather',
    maker: 'Ada',
    launchDate: 'December 1, 2026',
    team: [{ name: 'Ada', avatar: COMMENT_DEFAULTS.authorAvatar, role: '' }],
    screenshots: [],
    createdAt: '2026-12-01T09:00:00.000Z',
    upvotes: 0,
    comments: 0,
  },
  standing: null,
  votesByHour: [],
  createdAt: '2026-11-22T12:00:00.000Z',
  updatedAt: '2026-11-22T13:00:00.000Z',
  editable: true,
};

/** The parameters of the removal of a screenshot. */
export const SCREENSHOT_PARAMETERS = {
  n: { description: 'The zero-based index of the screenshot', example: '0' },
  revision: { description: 'The `revision` with this index. If it has changed, the removal fails', example: 2 },
  productVersion: {
    description: 'The `productVersion` with this index. If it has changed, the removal fails',
    example: 'kq3vZt0yE5mXo1sW8cJ2Ab',
  },
};

const SESSION_EXAMPLE = 'session-0f8fad5b-d9cb-469f-a165-70867728950e';

const text = { type: 'string' };

/** Request headers that routes read without a schema. */
export const PARAMETERS = {
  Session: {
    name: SESSION_HEADER,
    in: 'header',
    required: true,
    description:
      'Identifies the anonymous visitor: an unguessable id that the client generates and stores. It authenticates the visitor.',
    schema: { type: 'string', pattern: SESSION_PATTERN },
    example: SESSION_EXAMPLE,
  },
  IdempotencyKey: {
    name: IDEMPOTENCY_HEADER,
    in: 'header',
    description: `A key that the client generates for a draft. If the same session sends it again with the same draft within ${IDEMPOTENCY_KEY_HOURS} hours, nothing is added, and the response contains the result of the first request.`,
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY_PATTERN },
    example: 'draft-1',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of the version that the client has. The response is 304 while that version is current.',
    schema: text,
    example: '"h4Zd0yOLrVbZfNsmPzQyWQ-br"',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The id of the last received event. A reconnecting `EventSource` sends this header, which takes precedence over `since`.',
    schema: text,
    example: '1795201200000',
  },
} as const;

/** Response headers. */
export const HEADERS = {
  ETag: {
    description: 'The strong validator of this response in this encoding.',
    schema: text,
    example: '"h4Zd0yOLrVbZfNsmPzQyWQ-br"',
  },
  CacheControl: {
    description: 'Whether and for how long the response may be cached.',
    schema: text,
    example: 'public, no-cache',
  },
  RateLimit: {
    description: 'The remaining quota of each limit (draft-ietf-httpapi-ratelimit-headers).',
    schema: text,
    example: '"session";r=119;t=1, "network";r=587;t=2',
  },
  RateLimitPolicy: {
    description: 'The quota (`q`) and window in seconds (`w`) of each limit.',
    schema: text,
    example: '"session";q=120;w=60, "network";q=600;w=60',
  },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 0 }, example: 2 },
} as const;

export const parameterRef = (name: keyof typeof PARAMETERS) => ({ $ref: `#/components/parameters/${name}` });
export const headerRef = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });

export const PRODUCT_ID = { description: 'The id of a product: 1 to 64 characters of `a-z 0-9 -`', example: 'git' };
export const LIMIT = { description: `Items per page; ${LIMITS.pageSize.default} by default`, example: 30 };
/** Describes a list's cursor. `keys` are the name of the list's order and the sort keys of an item (`keyset.ts`). */
export const cursorOf = (...keys: (string | number)[]) => ({
  description:
    'The `nextCursor` of the previous page of the same list in the same order. It stays valid when items are added.',
  example: Buffer.from(JSON.stringify(keys)).toString('base64url'),
});

export const SECURITY_SCHEMES = {
  MakerKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The `makerKey` of a submission. Comments sent with it have the badge `Maker`.',
  },
} as const;
