import { expect, test } from 'vitest';
import { launch } from '../../../tests/support/launch-site.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import type { Database } from '../../core/database/database.ts';
import { HOUR_MS } from '../../core/runtime.ts';
import { scheduleFinalizing } from './schedule-finalizing.ts';

test('a result that is due only according to the clock of the database is not finalized yet', async () => {
  const database = await createTestDatabase();
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  const [old, recent] = [ago(6 * 24), ago(1)];
  await launch(database, 'old', old);
  await launch(database, 'recent', recent);
  const ahead: Database = {
    ...database,
    async query(text, values, options) {
      const rows = await database.query<Record<string, unknown>>(text, values, options);
      for (const row of rows) if (row.now instanceof Date) row.now = new Date(row.now.getTime() + 240 * HOUR_MS);
      return rows as never;
    },
  };
  const finalizer = scheduleFinalizing(
    { database: ahead, withoutStatementTimeout: (work) => work(ahead) },
    { timeZone: 'UTC', reviewHours: 24, votesPerNetwork: 20 },
    { log: silentLog },
    { pollMs: 20, leaseMs: 60_000, retryMs: 20 },
  );
  try {
    const finalDays = () =>
      database.query("SELECT period FROM leaderboards WHERE kind = 'day' AND final_at IS NOT NULL");
    await expect.poll(finalDays).toEqual([{ period: old.slice(0, 10) }]);
    await expect.poll(() => finalizer.stats().boards.final).toBeGreaterThan(0);
    expect(await finalDays()).toEqual([{ period: old.slice(0, 10) }]);
  } finally {
    await finalizer.close();
    await database.drop();
  }
});
