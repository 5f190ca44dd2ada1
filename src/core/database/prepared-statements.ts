import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Log } from '../runtime.ts';

/**
 * The SQLSTATE codes of errors that preparation can cause: a pooler switched to a server connection that does not know
 * the name (26000) or already knows it (42P05), or a migration changed the columns of the result (0A000).
 */
const PREPARATION_FAILURES = new Set(['26000', '42P05', '0A000']);

interface PreparedStatements {
  /** Calls `execute` with the name under which to prepare `text`, or with undefined if it must not be prepared. */
  run<Result>(text: string, execute: (name: string | undefined) => Promise<Result>): Promise<Result>;
}

/**
 * Names statements, so the server parses and plans each statement once per connection. After the first failure that
 * preparation caused, this pool prepares no more statements, and the failed statement, which had no effect, runs again
 * without a name.
 */
export function createPreparedStatements(log: Log): PreparedStatements {
  const names = new Map<string, string>();
  let isSupported = true;

  /** The name is a digest of the text, so clients that share a server connection never use one name for two texts. */
  function nameOf(text: string): string {
    let name = names.get(text);
    if (name === undefined) {
      name = `groundswell_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      names.set(text, name);
    }
    return name;
  }

  return {
    async run(text, execute) {
      if (!isSupported) return execute(undefined);
      try {
        return await execute(nameOf(text));
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || !PREPARATION_FAILURES.has(error.code ?? '')) throw error;
        if (isSupported) {
          isSupported = false;
          log.info(
            { code: error.code },
            'A prepared statement failed because of a connection pooler or a migration. No more statements will be prepared.',
          );
        }
        return execute(undefined);
      }
    },
  };
}
