import type { Sql } from '../database/database.ts';

/**
 * Maps each part of a source, in order, and starts mapping the next part before the result is requested.
 * @throws the errors of the source or `make`, in order.
 */
export async function* oneAhead<Part, Made>(
  source: AsyncIterable<Part>,
  make: (part: Part) => Promise<Made>,
): AsyncGenerator<Made> {
  let ahead: Promise<Made> | undefined;
  for await (const part of source) {
    const making = make(part);
    // A consumer that continues gets the error below; a stopped one already has an error.
    making.catch(() => {});
    if (ahead !== undefined) yield await ahead;
    ahead = making;
  }
  if (ahead !== undefined) yield await ahead;
}

/** A connection for statements that are sent without waiting for each other. */
export interface Turns {
  /** Statements run one after the other. After a failure, all later ones fail with the same error. */
  sql: Sql;
  /** Resolves when the current work has ended; later parts are never started. */
  end(): Promise<void>;
}

/** Accepts statements in turn; without `end`, one could still come after its transaction. */
export function takeTurns(connection: Sql): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let ended = false;
  return {
    sql: {
      query(text, values, options) {
        const result = last.then(() => {
          if (ended) throw new Error('The turns are over');
          return connection.query<never>(text, values, options);
        });
        // Its caller gets the error, at the latest from the next statement.
        result.catch(() => {});
        last = result;
        return result;
      },
    },
    async end() {
      ended = true;
      await last.catch(() => {});
    },
  };
}
