import type { Database, Sql } from '../../src/core/database/database.ts';

/** Wraps a database so its transactions run `work` before each statement that contains `part`. */
export function interruptTransactions(
  database: Database,
  part: string,
  work: (sql: Sql) => Promise<unknown>,
): Database {
  const interrupted = (sql: Sql): Sql => ({
    async query(text, values) {
      if (text.includes(part)) await work(sql);
      return sql.query(text, values);
    },
  });
  return { ...database, transaction: (run) => database.transaction((sql) => run(interrupted(sql))) };
}
