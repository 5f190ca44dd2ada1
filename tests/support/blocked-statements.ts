import type { Database } from '../../src/core/database/database.ts';

/** The statements that wait for a lock which somebody else has. */
export async function blockedStatements(database: Database): Promise<string[]> {
  const rows = await database.query<{ query: string }>(
    `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map((row) => row.query);
}
