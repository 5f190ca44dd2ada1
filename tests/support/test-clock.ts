import { randomUUID } from 'node:crypto';
import type { Sources } from '../../src/core/sources.ts';

/** A clock that stands still until a test moves it. */
export function createTestClock(start = new Date('2026-06-01T12:00:00.000Z')): Sources & {
  advance(by: { hours?: number; milliseconds?: number }): void;
} {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    uuid: () => randomUUID(),
    advance: ({ hours = 0, milliseconds = 0 }) => {
      now += hours * 3_600_000 + milliseconds;
    },
  };
}
