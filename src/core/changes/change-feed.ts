import { randomUUID } from 'node:crypto';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Change } from './change.ts';

/** How soon every process knows what any process committed. */
const POLL_INTERVAL_MS = 200;

/**
 * A row is read again for this long after its own time: transactions become visible in another order than their rows'
 * times say. It bounds how long a transaction may take between noting its change, which it does last, and its commit.
 */
const OVERLAP_MS = 3_000;

/** Rows older than this are removed; a process that was away for longer cannot catch up and starts afresh. */
const KEPT_MS = 10 * 60 * 1_000;

/**
 * Notes a change, as the last statement of the transaction that makes it: all processes hear of it.
 * @returns the note's id.
 */
export async function noteChange(sql: Sql, { productIds, catalogue }: Change): Promise<string> {
  const id = randomUUID();
  await sql.query(
    'INSERT INTO changes (id, product_ids, catalogue, noted_at) VALUES ($1::uuid, $2::text[], $3, clock_timestamp())',
    [id, productIds, catalogue],
  );
  return id;
}

/** Stands in a note for every product there is or was; never the id of one. */
const EVERYTHING = '*';

/**
 * Notes that anything may have changed, for those who change too much to name it. All processes take it for a gap: whatever
 * they keep is outdated. The last statement of its transaction, as `noteChange` is.
 */
export async function noteEverythingChanged(sql: Sql): Promise<void> {
  await noteChange(sql, { productIds: [EVERYTHING], catalogue: true });
}

/** Removes notes that everybody has read. */
export async function forgetOldChanges(sql: Sql): Promise<void> {
  await sql.query(`DELETE FROM changes WHERE noted_at < clock_timestamp() - ${KEPT_MS} * interval '1 millisecond'`);
}

export interface ChangeListener {
  /** Every note once, by whichever process. */
  onChange(change: Change, noteId: string): void;
  /** Changes may have been missed, or are too many to be named: whatever is kept may be outdated. */
  onGap(): void;
  /** The database cannot be asked since a moment (milliseconds since 1970), or (undefined) it answers again. */
  onDeaf(since: number | undefined): void;
}

/**
 * Follows what any process changes, by polling: portable to every engine and every pooler. Times are the database's own.
 * @returns a function that stops it.
 */
export function followChanges(database: Database, log: Log, listener: ChangeListener): () => void {
  /** The database's time of the last reading, as text, since a `Date` would lose microseconds. */
  let readUpTo: string | undefined;
  let seen = new Set<string>();
  let deafSince: number | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout;

  async function poll(): Promise<void> {
    try {
      await read();
      if (deafSince !== undefined) {
        log.info('The database answers again');
        deafSince = undefined;
        listener.onDeaf(undefined);
      }
    } catch (error) {
      if (deafSince === undefined && !stopped) {
        log.warn({ err: error }, 'The database does not answer: pages are served as they were last known');
        deafSince = Date.now();
        listener.onDeaf(deafSince);
      }
    }
    if (!stopped) timer = setTimeout(poll, POLL_INTERVAL_MS).unref();
  }

  async function read(): Promise<void> {
    const rows = await database.query<ReadRow>(SELECT_CHANGES, [readUpTo ?? null, OVERLAP_MS, KEPT_MS]);
    const [first] = rows;
    if (first === undefined) return;
    if (first.gap) listener.onGap();
    const ids = new Set<string>();
    for (const { id, product_ids: productIds, catalogue } of rows) {
      if (id === null) continue;
      ids.add(id);
      if (readUpTo === undefined || seen.has(id)) continue;
      if (productIds.includes(EVERYTHING)) listener.onGap();
      else listener.onChange({ productIds, catalogue }, id);
    }
    seen = ids;
    readUpTo = first.now;
  }

  void poll();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

interface ReadRow {
  now: string;
  gap: boolean;
  id: string | null;
  product_ids: string[];
  catalogue: boolean;
}

// One row at least, so that the database's time comes along. The first reading only remembers what is there already.
const SELECT_CHANGES = `SELECT clock.now::text AS now,
    coalesce($1::timestamptz < clock.now - $3::integer * interval '1 millisecond', false) AS gap,
    changes.id, changes.product_ids, changes.catalogue
  FROM (SELECT clock_timestamp() AS now) AS clock
  LEFT JOIN changes ON changes.noted_at > coalesce($1::timestamptz, clock.now) - $2::integer * interval '1 millisecond'`;
