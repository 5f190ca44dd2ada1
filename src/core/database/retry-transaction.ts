import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';
import { isSerializationFailure } from './database-faults.ts';

const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 20;

/**
 * Runs `work` in a transaction, and again from its beginning when it met another one crosswise. On one PostgreSQL, where rows
 * are locked in one order, that does not happen; a database on several servers cannot promise it. `work` must have no other effect.
 */
export async function transactionWithRetries<Result>(
  database: Database,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tried === MAX_TRIES || !isSerializationFailure(error)) throw error;
      // Spread, so that the transactions that met do not meet again.
      await sleep(FIRST_PAUSE_MS * 2 ** tried * Math.random());
    }
  }
}
