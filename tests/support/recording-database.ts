import type { Database, Sql } from '../../src/core/database/database.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
}

/** A database that also remembers what it was asked; beginning and ending a transaction are not among it. */
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
