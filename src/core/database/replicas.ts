import type { Change } from '../changes/change.ts';
import type { Log } from '../log.ts';
import { ConnectError } from './connect.ts';
import { type Database, openDatabase, type Sql, type StatementOptions } from './database.ts';
import { describeUrl } from './describe-url.ts';
import { type Replica, watchReplica } from './replica-watch.ts';
import { isDistributed } from './row-lock.ts';
import { type ReadScope, WriteMoments } from './write-moments.ts';

/** Where to read from, so that nobody is shown a state older than what this process knows to be written. */
export interface ReadSources {
  of(scope: ReadScope): Sql;
  /** A session's own write was committed. */
  noteSession(session: string): void;
}

/** Reads from the primary alone. */
export function readsFrom(primary: Sql): ReadSources {
  return { of: () => primary, noteSession: () => {} };
}

/** How many reads went where, and which replicas can be read. */
export interface ReadStats {
  primary: number;
  replicas: number;
  usable: number;
}

export interface ReplicatedReads extends ReadSources {
  /** Something was written, by this process or another. To be told before whoever keeps answers is. */
  noteChange(change: Change): void;
  /** Anything may have been written. */
  noteGap(): void;
  /** A visitor says to have written at a moment (milliseconds since 1970), here or at another process. */
  noteWriteAt(moment: number): void;
  stats(): ReadStats;
  close(): Promise<void>;
}

/** A read of a replica that takes longer is given up, and asked of the primary. */
const REPLICA_PATIENCE_MS = 3_000;

/**
 * Spreads reads over replicas. One is read only when it is known to have replayed everything up to a moment, and nothing that the
 * read depends on was written since; else the primary is. So a replica that lags, stops or is promoted is passed over by itself,
 * and comes back by itself.
 */
function readFromReplicas(
  primary: Database,
  replicaDatabases: readonly { name: string; database: Database }[],
  log: Log,
): ReplicatedReads {
  const writes = new WriteMoments();
  const counted = { primary: 0, replicas: 0 };
  const replicas: Replica[] = replicaDatabases.map(({ name, database }) =>
    watchReplica({
      name,
      database,
      primary,
      log,
      wantedSince: () => writes.latest(),
      onVerified: () => writes.forget(),
    }),
  );
  let turn = 0;

  /** One after the other, of those that show enough. */
  function choose(scope: ReadScope): Replica | undefined {
    const since = writes.since(scope);
    turn += 1;
    for (let tried = 0; tried < replicas.length; tried += 1) {
      const replica = replicas[(turn + tried) % replicas.length];
      if (replica?.hasReplayed(since)) return replica;
    }
    return undefined;
  }

  /** All statements of one reading go to the same server. */
  function of(scope: ReadScope): Sql {
    let replica: Replica | undefined;
    let isChosen = false;
    return {
      async query<Row extends object>(text: string, values?: readonly unknown[], options?: StatementOptions) {
        if (!isChosen) replica = choose(scope);
        isChosen = true;
        if (replica !== undefined) {
          try {
            const rows = await replica.database.query<Row>(text, values, {
              timeoutMs: REPLICA_PATIENCE_MS,
              ...options,
            });
            counted.replicas += 1;
            return rows;
          } catch (error) {
            // Whatever it is, a cancelled statement or a lost connection: the primary says whether it is the statement.
            replica.distrust(error);
            replica = undefined;
          }
        }
        counted.primary += 1;
        return primary.query<Row>(text, values, options);
      },
    };
  }

  return {
    of,
    noteSession: (session) => writes.addSession(session),
    noteChange: (change) => writes.add(change),
    noteGap: () => writes.addEverything(Date.now()),
    noteWriteAt: (moment) => writes.addEverything(moment),
    stats: () => ({ ...counted, usable: replicas.filter((replica) => replica.hasReplayed(0)).length }),
    async close() {
      for (const replica of replicas) await replica.close();
    },
  };
}

/**
 * Rows that lie on several servers are replicated by each of these alone: what the coordinator's replica has replayed says nothing
 * of what the workers' have. @throws ConnectError where it is so.
 */
export async function expectReplicable(primary: Sql): Promise<void> {
  if (!(await isDistributed(primary))) return;
  throw new ConnectError(
    'DATABASE_REPLICA_URL: replicas of a database with Citus cannot be read, since nobody knows what they show. Leave it unset; reads are spread by adding workers.',
  );
}

/** Opens replicas by their URLs; none of them need be there. */
export function openReplicas(
  primary: Database,
  urls: readonly string[],
  { log, maxConnections }: { log: Log; maxConnections: number },
): ReplicatedReads {
  const databases = urls.map((url) => ({
    name: describeUrl(url),
    database: openDatabase({ url, log, maxConnections }),
  }));
  return readFromReplicas(primary, databases, log);
}
