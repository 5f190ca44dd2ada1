import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** The source of time and ids. Tests replace it to control the time instead of sleeping. */
export interface Runtime {
  /** Returns the wall-clock time, for storage and display. It may jump in either direction. */
  now(): Date;
  /** Returns milliseconds since an arbitrary point in time, for durations and deadlines. The value never decreases. */
  monotonicMs(): number;
  uuid(): string;
}

export const systemRuntime: Runtime = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  uuid: () => randomUUID(),
};

/**
 * Returns a new UUID of version 7 (RFC 9562). The UUIDs of a process ascend in the order of the calls, so rows with the
 * same time can be sorted by them.
 */
export function orderedUuid(): string {
  return v7();
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The last instant with a four-digit year. Later years have a different format in ISO 8601. */
export const END_OF_TIME = new Date('9999-12-31T23:59:59.999Z');

/** The part of pino's logger that `core` uses. Calls pass fields and a message, or only a message. */
export interface Log {
  info(fields: object | string, message?: string): void;
  warn(fields: object | string, message?: string): void;
  error(fields: object | string, message?: string): void;
}

/**
 * Matches a UUID in its canonical form. Patterns in JSON Schema have no flags, so schemas accept only lower-case
 * letters, unlike `isUuid`.
 */
export const UUID_PATTERN = '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const UUID = new RegExp(UUID_PATTERN, 'i');

/**
 * Returns whether a text is a UUID in its canonical form, with letters in either case. Check texts before a query,
 * because PostgreSQL raises an error for a text that is not a UUID.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
