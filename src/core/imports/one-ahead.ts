import type { Sql } from '../database/database.ts';

/**
 * What is made from each part of a source, in order, while the next one is being made already.
 * @throws what the source or `make` throws, when its turn comes.
 */
export async function* oneAhead<Part, Made>(
  source: AsyncIterable<Part>,
  make: (part: Part) => Promise<Made>,
): AsyncGenerator<Made> {
  let ahead: Promise<Made> | undefined;
  for await (const part of source) {
    const making = make(part);
    // Whoever reads on hears of a failure below; whoever stopped reading has one of their own.
    making.catch(() => {});
    if (ahead !== undefined) yield await ahead;
    ahead = making;
  }
  if (ahead !== undefined) yield await ahead;
}

/** A connection for statements that are sent without waiting for each other. */
export interface Turns {
  /** One statement runs after the other. Once one has failed none is run, and all that follow fail as it did. */
  sql: Sql;
  /** Resolves when nothing runs any more; what has not begun by then never does. */
  end(): Promise<void>;
}

/** Takes statements in turn; without `end`, one could still come after its transaction is over. */
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
        // Its caller hears of a failure, at the latest from the statement after it.
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
