import type { ProblemCode } from '../contract/problem.ts';

/** Something that a caller can be told: a stable code, and a message that a person may read. */
export class CoreError extends Error {
  override readonly name = 'CoreError';

  constructor(
    readonly code: ProblemCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
