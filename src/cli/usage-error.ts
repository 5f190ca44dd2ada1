/** A command that was not given what it needs; the message says what to give it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
