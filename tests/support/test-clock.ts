import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/core/database/database.ts';
import type { Runtime } from '../../src/core/runtime.ts';

interface TestClock extends Runtime {
  /** Advances both the wall clock and the monotonic clock. */
  advance(by: { hours?: number; milliseconds?: number }): void;
  /** Changes only the wall clock, like an administrator or NTP. Negative values set it back. */
  shiftWallClock(by: { hours: number }): void;
}

/** Creates a clock that only the test advances. */
export function createTestClock(start = new Date('2026-06-01T12:00:00.000Z')): TestClock {
  let now = start.getTime();
  let monotonicMs = 0;
  return {
    now: () => new Date(now),
    monotonicMs: () => monotonicMs,
    uuid: () => randomUUID(),
    advance: ({ hours = 0, milliseconds = 0 }) => {
      now += hours * 3_600_000 + milliseconds;
      monotonicMs += hours * 3_600_000 + milliseconds;
    },
    shiftWallClock: ({ hours }) => {
      now += hours * 3_600_000;
    },
  };
}

/** Wraps a database so the site sees the database's clock shifted by `offsetMs`. */
export function withClock(database: Database, clock: { offsetMs: number }): Database {
  return {
    ...database,
    async query(text, values, options) {
      const rows = await database.query<Record<string, unknown>>(text, values, options);
      for (const row of rows) if (typeof row.now_ms === 'number') row.now_ms += clock.offsetMs;
      return rows as never;
    },
  };
}
