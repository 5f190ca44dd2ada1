import type { Database, Sql } from '../../src/core/database/database.ts';

/** Wraps a database so all its statements and transactions are part of the open transaction of `sql`. */
export function withinTransaction(database: Database, sql: Sql): Database {
  return { ...database, query: (...statement) => sql.query(...statement), transaction: (work) => work(sql) };
}
