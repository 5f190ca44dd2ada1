import { onTestFinished, vi } from 'vitest';
import { type Database, UnknownOutcomeError } from '../../src/core/database/database.ts';

/** Makes the next transaction of a database commit, and then fail as if its connection had been lost during COMMIT. */
export function confirmNoCommitOnce(database: Database): void {
  const { transaction } = database;
  const spy = vi.spyOn(database, 'transaction').mockImplementationOnce(async (work) => {
    await transaction(work);
    throw new UnknownOutcomeError('unavailable', 'The database is unavailable.', { cause: new Error('ECONNRESET') });
  });
  onTestFinished(() => spy.mockRestore());
}
