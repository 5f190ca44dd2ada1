import type { FieldError, ProblemCode } from '../contract/problem.ts';
import { PRODUCT_MESSAGES } from '../contract/products/messages.ts';

/** An error from an operation: a stable code for programs, and a human-readable message. */
export class CoreError extends Error {
  override readonly name = 'CoreError';
  /** The invalid fields; unset if the error does not concern fields. */
  readonly fields: readonly FieldError[] | undefined;
  /** The current state of the object to change; set only if the request was based on an older state. */
  readonly current: object | undefined;

  constructor(
    readonly code: ProblemCode,
    message: string,
    options?: ErrorOptions & { fields?: readonly FieldError[]; current?: object },
  ) {
    super(message, options);
    this.fields = options?.fields;
    this.current = options?.current;
  }
}

export function productNotFound(): CoreError {
  return new CoreError('product_not_found', PRODUCT_MESSAGES.notFound);
}

/** Creates the error for a product that is not on its leaderboards yet. */
export function standingNotFound(): CoreError {
  return new CoreError('product_not_found', 'This product has no standing yet.');
}

/** Creates the error for writes to a product whose many votes are being recounted. */
export function productPaused(): CoreError {
  return new CoreError('unavailable', 'This product cannot be changed right now. Please try again in a moment.');
}

/** Creates the error for an idempotency key that an earlier request used with other content. */
export function idempotencyKeyReused(what: 'comment' | 'submission'): CoreError {
  return new CoreError(
    'idempotency_key_reused',
    `This Idempotency-Key was used for another ${what}. Please send a new key.`,
  );
}

export function periodNotFound(): CoreError {
  return new CoreError('period_not_found', 'There is no leaderboard for this period.');
}
