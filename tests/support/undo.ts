import { undoEntry } from '../../src/core/console/undo-entry.ts';
import type { Database } from '../../src/core/database/database.ts';
import { systemRuntime } from '../../src/core/runtime.ts';

/** Undoes an entry of a database's audit log. */
export function undo(
  database: Database,
  auditId: string | null | undefined,
  rules: Partial<Parameters<typeof undoEntry>[2]> = {},
): Promise<unknown> {
  const connection = {
    database,
    withoutStatementTimeout: <Result>(work: (on: Database) => Promise<Result>) => work(database),
  };
  const defaults = { runtime: systemRuntime, timeZone: 'UTC', votesPerNetwork: 20 };
  return undoEntry(connection, auditId ?? '', { ...defaults, ...rules });
}
