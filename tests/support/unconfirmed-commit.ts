import { onTestFinished, vi } from 'vitest';
import type { Database } from '../../src/core/database/database.ts';
import { UnknownOutcomeError } from '../../src/core/database/database-errors.ts';

/**
 * Makes the next transaction that writes to the audit log commit, and then fail as if its connection had been lost
 * during COMMIT. Other transactions, such as those of background jobs, are not affected.
 */
export function loseCommitResponseOnce(database: Database): void {
  const { transaction } = database;
  let isOver = false;
  const spy = vi.spyOn(database, 'transaction').mockImplementation(async (work) => {
    let isAudited = false;
    const result = await transaction((sql) =>
      work({
        query(text, ...rest) {
          isAudited ||= text.includes('INSERT INTO audit_log');
          return sql.query(text, ...rest);
        },
      }),
    );
    if (!isAudited || isOver) return result;
    isOver = true;
    throw new UnknownOutcomeError('unavailable', 'The database is unavailable.', { cause: new Error('ECONNRESET') });
  });
  onTestFinished(() => spy.mockRestore());
}
