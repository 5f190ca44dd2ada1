import type { Database, Sql } from '../../src/core/database/database.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

/** Wraps a database and records its statements, except the start and end of transactions. */
export function recordStatements(database: Database): { database: Database; statements: Statement[] } {
  const statements: Statement[] = [];
  const recording = (sql: Sql): Sql => ({
    query(text, values = []) {
      statements.push({ text, values });
      return sql.query(text, values);
    },
  });
  return {
    statements,
    database: {
      ...database,
      ...recording(database),
      transaction: (work) => database.transaction((sql) => work(recording(sql))),
    },
  };
}
