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

/** Wraps a database so the first statement that contains `part` fails with a deadlock. */
export function deadlockOnce(database: Database, part: string): Database {
  let isFirst = true;
  return interruptTransactions(database, part, async (sql) => {
    const fails = isFirst;
    isFirst = false;
    if (fails) await sql.query("DO $$ BEGIN RAISE 'deadlock' USING ERRCODE = '40P01'; END $$");
  });
}
