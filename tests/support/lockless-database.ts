import type { Database } from '../../src/core/database/database.ts';

/**
 * A database that pretends to have Citus, so rows are not locked before they are written: one PostgreSQL shows the
 * same effects.
 */
export function withoutRowLocks(database: Database): Database {
  return {
    ...database,
    query: (text, values) =>
      text.includes('pg_extension') ? database.query('SELECT 1') : database.query(text, values),
  };
}
