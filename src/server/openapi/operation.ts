import type { TSchema } from 'typebox';
import type { ProblemCode } from '../../contract/problem.ts';

/** What an OpenAPI document says about an operation beyond what its route validates. */
export interface Operation {
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Whether it needs the visitor's session. */
  needsSession?: true;
  takesIdempotencyKey?: true;
  takesLastEventId?: true;
  /** Whether its answer may be kept, and carries an ETag. */
  isKept?: true;
  /** Whether its answers carry the fields of rate limits, and it may be refused for them. */
  isLimited?: true;
  /** Words about each parameter of the path and the query, and a value of it. */
  parameters?: Record<string, { description: string; example: string | number }>;
  bodyExample?: unknown;
  /** Answers that are no problem, by status. `content` where they are no JSON that the route declares; `data` is what a text of such a type holds. */
  answers: Record<number, { description: string; example?: unknown; content?: { type: string; data?: TSchema } }>;
  problems: readonly ProblemCode[];
}

export const TAGS = {
  Products: 'What was launched, and how it is liked.',
  Upvotes: 'A session has one upvote of a product or none; both changes name the wished state.',
  Comments: 'What visitors say about a product, and likes of it.',
  Events: 'What changes, as it changes.',
  Reference: 'This description.',
} as const;

export type Tag = keyof typeof TAGS;
