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

/**
 * After this without an answer, a reading is given up and what is kept is called old. Far less than other statements get: it is
 * the one that tells whether the database is there, and the next may find it.
 */
const PATIENCE_MS = 2_000;
const LATE = `No answer within ${PATIENCE_MS} ms`;

/** Rows older than this are removed; a process that was away for longer cannot catch up and starts afresh. */
export const KEPT_MS = 10 * 60 * 1_000;

/**
 * Notes a change, as the last statement of the transaction that makes it: all processes hear of it.
 * @returns the note's id.
 */
export async function noteChange(sql: Sql, { productIds, catalogue, commentIds = [] }: Change): Promise<string> {
  const id = randomUUID();
  await sql.query(INSERT_CHANGE, [id, productIds, catalogue, commentIds]);
  return id;
}

const INSERT_CHANGE = `INSERT INTO changes (id, product_ids, catalogue, comment_ids, noted_at)
  VALUES ($1::uuid, $2::text[], $3, $4::uuid[], clock_timestamp())`;

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

/** A note as it is read, by whichever process it was written. */
export interface ChangeNote extends Change {
  id: string;
  /** The database's time, in milliseconds since 1970. */
  notedAt: number;
}

export interface FeedListener {
  /** The first reading, of what is there already: it was all made before anything is served. */
  onHistory(notes: readonly ChangeNote[]): void;
  /** Every later note once. */
  onChange(note: ChangeNote): void;
  /** Everything that was visible to all at this moment of the database, in milliseconds since 1970, has been told. */
  onHeardUpTo(now: number): void;
  /** Changes may have been missed, or are too many to be named: whatever is kept may be outdated. */
  onGap(): void;
  /** The database cannot be asked since a moment (milliseconds since 1970), or (undefined) it answers again. */
  onDeaf(since: number | undefined): void;
}

/**
 * Follows what any process changes, by polling: portable to every engine and every pooler. Times are the database's own.
 */
export function followChanges(database: Database, log: Log, listener: FeedListener): ChangeFollower {
  /** The database's time of the last reading, as text, since a `Date` would lose microseconds. */
  let readUpTo: string | undefined;
  let seen = new Set<string>();
  let deafSince: number | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function poll(): Promise<void> {
    timer = undefined;
    // Whatever it is that takes so long, a connection that is not to be had or an answer: who reads must be told.
    const late = setTimeout(() => hearNothing(new Error(LATE)), PATIENCE_MS).unref();
    try {
      await read();
      if (deafSince !== undefined) {
        log.info('The database answers again');
        deafSince = undefined;
        listener.onDeaf(undefined);
      }
    } catch (error) {
      hearNothing(error);
    }
    clearTimeout(late);
    if (!stopped) timer = setTimeout(poll, POLL_INTERVAL_MS).unref();
  }

  function hearNothing(error: unknown): void {
    if (deafSince !== undefined || stopped) return;
    log.warn({ err: error }, 'The database does not answer: pages are served as they were last known');
    deafSince = Date.now();
    listener.onDeaf(deafSince);
  }

  async function read(): Promise<void> {
    const isFirst = readUpTo === undefined;
    const lookBackMs = isFirst ? KEPT_MS : OVERLAP_MS;
    const rows = await database.query<ReadRow>(SELECT_CHANGES, [readUpTo ?? null, lookBackMs, KEPT_MS], {
      timeoutMs: PATIENCE_MS,
    });
    const [first] = rows;
    if (first === undefined) return;
    const notes = rows.filter((row) => row.id !== null).map(noteOf);
    if (isFirst) listener.onHistory(notes);
    else {
      if (first.gap) listener.onGap();
      for (const note of notes) if (!seen.has(note.id)) tell(note);
    }
    seen = new Set(notes.map(({ id }) => id));
    readUpTo = first.now;
    listener.onHeardUpTo(first.now_ms);
  }

  function tell(note: ChangeNote): void {
    if (isEverything(note)) listener.onGap();
    else listener.onChange(note);
  }

  return {
    firstTried: poll(),
    readNow() {
      // No timer is set while a reading is under way: then the next one is not far.
      if (timer === undefined || stopped) return;
      clearTimeout(timer);
      void poll();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

export interface ChangeFollower {
  /** Resolves when the first reading is done, or failed: from then on every change is told. */
  firstTried: Promise<void>;
  /** Reads at once instead of at its time: something is known to be there. */
  readNow(): void;
  stop(): void;
}

/** Whether a note stands for every product. */
export function isEverything({ productIds }: Change): boolean {
  return productIds.includes(EVERYTHING);
}

interface ReadRow {
  now: string;
  now_ms: number;
  gap: boolean;
  id: string;
  product_ids: string[];
  catalogue: boolean;
  comment_ids: string[];
  noted_ms: number;
}

function noteOf(row: ReadRow): ChangeNote {
  return {
    id: row.id,
    productIds: row.product_ids,
    catalogue: row.catalogue,
    commentIds: row.comment_ids,
    notedAt: row.noted_ms,
  };
}

// One row at least, so that the database's time comes along. The first reading is of all that is there.
const SELECT_CHANGES = `SELECT clock.now::text AS now, (extract(epoch FROM clock.now) * 1000)::float8 AS now_ms,
    coalesce($1::timestamptz < clock.now - $3::integer * interval '1 millisecond', false) AS gap,
    changes.id, changes.product_ids, changes.catalogue, changes.comment_ids,
    (extract(epoch FROM changes.noted_at) * 1000)::float8 AS noted_ms
  FROM (SELECT clock_timestamp() AS now) AS clock
  LEFT JOIN changes ON changes.noted_at > coalesce($1::timestamptz, clock.now) - $2::integer * interval '1 millisecond'`;
