import { randomUUID } from 'node:crypto';

/** Time and ids. A port: tests set the time themselves and never sleep. */
export interface Runtime {
  /** The time of day, for storage and display. It may jump in either direction. */
  now(): Date;
  /** Milliseconds since an arbitrary moment, for ages, intervals and deadlines. It never goes back. */
  monotonicMs(): number;
  uuid(): string;
}

export const systemRuntime: Runtime = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  uuid: () => randomUUID(),
};

/** The logger that `core` needs; a pino logger is one. Fields first, then the message, or the message alone. */
export interface Log {
  info(fields: object | string, message?: string): void;
  warn(fields: object | string, message?: string): void;
  error(fields: object | string, message?: string): void;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form; PostgreSQL raises an error for anything else. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
