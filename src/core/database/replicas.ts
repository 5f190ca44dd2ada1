import { AsyncLocalStorage } from 'node:async_hooks';
import type { Change } from '../changes/change-feed.ts';
import { type Log, systemRuntime } from '../runtime.ts';
import { isDistributed } from './citus.ts';
import { ConnectError, describeUrl, SILENT_LOG } from './connect.ts';
import { type Database, openDatabase, type Sql, type StatementOptions } from './database.ts';
import { isSlowStatement } from './database-errors.ts';
import { type Replica, watchReplica } from './replica-watch.ts';

/**
 * The scope of a read: products, the session that reads its own rows, or both. Without either, the read concerns
 * everything.
 */
interface ReadScope {
  productIds?: readonly string[];
  session?: string;
}

/** How long each write is remembered. Must be longer than the maximum lag of a usable replica (`MAX_LAG_MS`). */
export const RETENTION_MS = 10_000;

const MAX_ENTRIES = 20_000;
const NEVER = Number.NEGATIVE_INFINITY;

/**
 * Remembers the last write to each product and by each session, as far as this process knows. Times are in milliseconds
 * of the monotonic clock. If there are more than `MAX_ENTRIES`, a single time replaces all of them.
 */
export class LastWrites {
  readonly #products = new Map<string, number>();
  readonly #sessions = new Map<string, number>();
  /** The last write of any kind, for reads without a scope. */
  #any = NEVER;
  /** The last write that concerns every scope. */
  #everything = NEVER;

  add({ productIds, catalogue }: Change, time: number): void {
    // A change to the catalogue also affects reads of other products, such as the neighbours of a product in the list.
    if (catalogue) this.addEverything(time);
    for (const id of productIds) setLatest(this.#products, id, time);
    this.#any = Math.max(this.#any, time);
    if (this.#products.size > MAX_ENTRIES) this.addEverything(time);
  }

  addSession(session: string, time: number): void {
    setLatest(this.#sessions, session, time);
    this.#any = Math.max(this.#any, time);
    if (this.#sessions.size > MAX_ENTRIES) this.addEverything(time);
  }

  addEverything(time: number): void {
    this.#everything = Math.max(this.#everything, time);
    this.#any = Math.max(this.#any, time);
    if (this.#products.size > MAX_ENTRIES) this.#products.clear();
    if (this.#sessions.size > MAX_ENTRIES) this.#sessions.clear();
  }

  /** Returns the time of the last write that a read must show. */
  since({ productIds, session }: ReadScope): number {
    if (productIds === undefined && session === undefined) return this.#any;
    let time = this.#everything;
    for (const id of productIds ?? []) time = Math.max(time, this.#products.get(id) ?? NEVER);
    if (session !== undefined) time = Math.max(time, this.#sessions.get(session) ?? NEVER);
    return time;
  }

  /** Returns the time of the last write of any kind. */
  latest(): number {
    return this.#any;
  }

  /**
   * Evicts the writes that every usable replica already shows. Their latest time replaces them, because while the
   * primary is unreachable, replicas that lag further behind are also read.
   */
  evictOld(now: number): void {
    for (const times of [this.#products, this.#sessions]) {
      for (const [key, time] of times) {
        if (now - time < RETENTION_MS) break;
        times.delete(key);
        this.#everything = Math.max(this.#everything, time);
      }
    }
  }
}

/** Sets an entry and moves it to the end, so the oldest entries come first. */
function setLatest(times: Map<string, number>, key: string, time: number): void {
  times.delete(key);
  times.set(key, time);
}

/** Chooses the server for a read: one that shows at least the writes that this process knows of. */
export interface ReadSources {
  of(scope: ReadScope): Sql;
  /** Records that a write by this session was committed. */
  noteSession(session: string): void;
}

/** Returns a source that always reads from the primary. */
export function primaryOnly(primary: Sql): ReadSources {
  return { of: () => primary, noteSession: () => {} };
}

/** How many reads the primary and the replicas have served, and how many replicas are usable. */
export interface ReadStats {
  primary: number;
  replicas: number;
  usable: number;
}

export interface ReplicatedReads extends ReadSources {
  /** Records a write by this process or another. Call it before invalidating cached responses. */
  noteChange(change: Change): void;
  /** Records that any data may have been written, because changes may have been missed. */
  noteGap(): void;
  /** Runs `work` with reads that show all writes by all processes up to a time of the monotonic clock. */
  runAsOf<Result>(time: number, work: () => Result): Result;
  stats(): ReadStats;
  close(): Promise<void>;
}

/** The timeout of a read on a replica. A read that takes longer is repeated on the primary. */
const REPLICA_TIMEOUT_MS = 3_000;

/**
 * Spreads reads over replicas. A read goes to a replica that has replayed every write within the read's scope,
 * otherwise to the primary. A replica that lags or stops is skipped until it has caught up; a promoted one is no longer
 * read.
 */
function readFromReplicas(
  primary: Database,
  replicaDatabases: readonly { name: string; database: Database }[],
  log: Log,
): ReplicatedReads {
  const { monotonicMs } = systemRuntime;
  const writes = new LastWrites();
  const counted = { primary: 0, replicas: 0 };
  const replicas: Replica[] = replicaDatabases.map(({ name, database }) =>
    watchReplica({
      name,
      database,
      primary,
      log,
      monotonicMs,
      latestWrite: () => writes.latest(),
      onVerified: () => writes.evictOld(monotonicMs()),
    }),
  );
  /**
   * The time of the last write that the current request claims to know of. The claim affects only the reads of this
   * request, so a forged claim does not move the reads of other visitors to the primary.
   */
  const claimed = new AsyncLocalStorage<number>();
  let turn = 0;

  /** Chooses the next replica, round-robin, that has replayed every write within the scope. */
  function choose(scope: ReadScope): Replica | undefined {
    const since = Math.max(writes.since(scope), claimed.getStore() ?? NEVER);
    turn += 1;
    for (let tried = 0; tried < replicas.length; tried += 1) {
      const replica = replicas[(turn + tried) % replicas.length];
      if (replica?.hasReplayed(since)) return replica;
    }
    return undefined;
  }

  /**
   * Returns the source of one operation. All its statements go to one replica until one of them fails; that statement
   * and all later ones go to the primary.
   */
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
              timeoutMs: REPLICA_TIMEOUT_MS,
              ...options,
            });
            counted.replicas += 1;
            return rows;
          } catch (error) {
            // Repeating the statement on the primary shows whether the statement or the replica is at fault. A slow
            // statement says nothing about the replica's data; the next check finds a replica that does not respond.
            if (!isSlowStatement(error)) replica.markUnverified(error);
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
    noteSession: (session) => writes.addSession(session, monotonicMs()),
    noteChange: (change) => writes.add(change, monotonicMs()),
    noteGap: () => writes.addEverything(monotonicMs()),
    runAsOf: (time, work) => claimed.run(time, work),
    stats: () => ({
      ...counted,
      usable: replicas.filter((replica) => replica.hasReplayed(NEVER)).length,
    }),
    async close() {
      for (const replica of replicas) await replica.close();
    },
  };
}

/**
 * Refuses replicas of a database with Citus. There, each server replicates its own rows, so the position of the
 * coordinator's replica does not cover the workers.
 * @throws ConnectError.
 */
export async function requireReplicable(primary: Sql): Promise<void> {
  if (!(await isDistributed(primary))) return;
  throw new ConnectError(
    'DATABASE_REPLICA_URL: with Citus, the site cannot check whether replicas are up to date. Leave it unset, and add workers to spread reads.',
  );
}

/** Opens replicas by their URLs. While none is reachable, reads use the primary. */
export function openReplicas(
  primary: Database,
  urls: readonly string[],
  { log, maxConnections }: { log: Log; maxConnections: number },
): ReplicatedReads {
  // Without warnings and errors, which would report an outage of the database. The watch logs that a replica is skipped.
  const replicaLog: Log = { ...SILENT_LOG, info: (fields, message) => log.info(fields, message) };
  const databases = urls.map((url) => ({
    name: describeUrl(url),
    database: openDatabase({ url, log: replicaLog, maxConnections }),
  }));
  return readFromReplicas(primary, databases, log);
}
