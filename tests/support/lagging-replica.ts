import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database } from '../../src/core/database/database.ts';
import type { ReplicatedReads } from '../../src/core/database/replicas.ts';

/** Reads from a replica that lacks all upvotes. Reads for a visitor who has just written use the primary. */
export function laggingReplica(primary: Database): ReplicatedReads {
  const writer = new AsyncLocalStorage<boolean>();
  return {
    of: () => ({
      query: (text, values) =>
        text.includes('FROM upvotes') && !writer.getStore() ? Promise.resolve([]) : primary.query(text, values),
    }),
    noteSession() {},
    noteChange() {},
    noteGap() {},
    runAsOf: (_time, work) => writer.run(true, work),
    stats: () => ({ primary: 0, replicas: 0, usable: 1 }),
    async close() {},
  };
}
