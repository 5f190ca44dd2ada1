import { adaptToCitus } from '../../src/core/database/citus.ts';
import type { Database } from '../../src/core/database/database.ts';

/**
 * Wraps a database so the site treats it as Citus and does not lock rows before it writes them. Tests can then observe
 * the effects on a single PostgreSQL server.
 */
export function withoutRowLocks(database: Database): Database {
  return adaptToCitus({
    ...database,
    query: (text, values, options) =>
      text.includes('pg_extension') ? database.query('SELECT 1') : database.query(text, values, options),
  });
}
