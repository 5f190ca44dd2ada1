import type { Database, Sql } from '../../src/core/database/database.ts';

export interface Statement {
  text: string;
  values: readonly unknown[];
  isPrepared: boolean;
}

/** Wraps a database and records its statements, except the start and end of transactions. */
export function recordStatements(database: Database): { database: Database; statements: Statement[] } {
  const statements: Statement[] = [];
  const recording = (sql: Sql): Sql => ({
    query(text, values = [], options = {}) {
      statements.push({ text, values, isPrepared: options.isPrepared ?? false });
      return sql.query(text, values, options);
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

/**
 * Wraps a database twice: `limited` rejects statements that contain `text`, as if they took longer than the statement
 * timeout, and `sent` returns how many of them `unlimited` has sent.
 */
export function limitStatements(database: Database, text: string) {
  const { database: unlimited, statements } = recordStatements(database);
  const limited: Database = {
    ...database,
    query: (statement, ...rest) =>
      statement.includes(text) ? Promise.reject(new Error('timeout')) : database.query(statement, ...rest),
  };
  return { limited, unlimited, sent: () => statements.filter((statement) => statement.text.includes(text)).length };
}

/**
 * Wraps a database and disables the statement timeouts of its transactions, and the expiry of their blocks on writes,
 * because a busy machine may exceed them. Wrap this database with `recordStatements` to record the statements as the
 * site sends them.
 */
export function withoutTimeouts(database: Database): Database {
  const withoutTimeout = (text: string) =>
    text
      .replace(/^(SET LOCAL statement_timeout) = .*/, '$1 = 0')
      .replace(/(SET writes_\w+_until) = statement_timestamp\(\) \+/, "$1 = timestamptz 'infinity' +");
  const patient = (sql: Sql): Sql => ({ query: (text, values) => sql.query(withoutTimeout(text), values) });
  return { ...database, transaction: (work) => database.transaction((sql) => work(patient(sql))) };
}
