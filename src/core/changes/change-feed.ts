import { randomUUID } from 'node:crypto';
import type { Database, Sql } from '../database/database.ts';

/** A value in `productIds` that represents the public moderation log. It is never the id of a product. */
export const MODERATION_LOG = '#moderation-log';

/** A value in `productIds` that represents the audit log, so operators who have it open see new entries. */
export const AUDIT_LOG = '#audit-log';

/** A value in `productIds` that represents the submissions and vote bursts that wait for an operator's decision. */
export const OPERATOR_QUEUE = '#operator-queue';

/** The changes by one or more transactions, or by a launch, for caches and open pages. */
export interface Change {
  /** The products that changed in any way, and MODERATION_LOG, AUDIT_LOG and OPERATOR_QUEUE if these changed. */
  productIds: readonly string[];
  /** Whether products were added, edited, removed or launched, or leaderboards changed other than by new votes. */
  catalogue: boolean;
  /**
   * The ids of the comments that were written, liked or moderated; unset if the change concerns no individual comments.
   */
  commentIds?: readonly string[];
  /**
   * For launches, an upper bound of the time since the first of them, in milliseconds. Unset for a change that was made
   * just now.
   */
  ageMs?: number;
}

/**
 * Rows older than this are deleted. A process that was disconnected for longer cannot catch up, and revalidates
 * everything.
 */
export const RETENTION_MS = 10 * 60 * 1_000;

/**
 * Each read starts at least this long before its cursor, because a row becomes visible only when its transaction
 * commits, after the row's `created_at`. A longer overlap would make every read more expensive.
 */
export const OVERLAP_MS = 3_000;

/**
 * The longer overlap of one read every four seconds (`LONG_READ_INTERVAL_MS`), which finds the changes of transactions
 * that commit slowly, for example because of a slow disk or standby. A transaction must commit within this time after
 * recording its change.
 */
export const LONG_OVERLAP_MS = 60_000;

/**
 * A change with more ids is recorded as "everything changed", because every process parses all ids of a change at once.
 * The limit is larger than a batch of the board updater, so placing many launches does not make all cached responses
 * stale.
 */
export const MAX_CHANGED_IDS = 1_500;

/** A value in `productIds` that represents every product. It is never the id of a product. */
const EVERYTHING = '*';

/**
 * Records a change for all processes. If it has more than `MAX_CHANGED_IDS` ids, records that everything changed. Must
 * be called near the end of the transaction, so the transaction commits soon afterwards.
 * @param id the row's id, by which the process that writes the row recognizes it.
 */
export async function recordChange(
  sql: Sql,
  { productIds, catalogue, commentIds = [] }: Change,
  id: string = randomUUID(),
): Promise<void> {
  const isListed = productIds.length + commentIds.length <= MAX_CHANGED_IDS;
  await sql.query(INSERT_CHANGE, isListed ? [id, productIds, catalogue, commentIds] : [id, [EVERYTHING], true, []]);
}

const INSERT_CHANGE = `INSERT INTO changes (id, product_ids, catalogue, comment_ids, created_at)
  VALUES ($1::uuid, $2::text[], $3, $4::uuid[], clock_timestamp())`;

/**
 * Records that anything may have changed, for changes too large to list. Processes treat this record as a gap:
 * everything they cached is stale. Call it near the end of the transaction, like `recordChange`.
 */
export async function recordEverythingChanged(sql: Sql): Promise<void> {
  await recordChange(sql, { productIds: [EVERYTHING], catalogue: true });
}

const RETENTION = `${RETENTION_MS} * interval '1 millisecond'`;

/**
 * Deletes rows older than `RETENTION_MS`. After the database's clock was set back, also deletes rows more than
 * `RETENTION_MS` in the future, because every read would return these rows until their time has passed.
 */
export async function deleteOldChanges(sql: Sql): Promise<void> {
  await sql.query(
    `DELETE FROM changes WHERE created_at NOT BETWEEN clock_timestamp() - ${RETENTION} AND clock_timestamp() + ${RETENTION}`,
  );
}

/** A change as it is read from the table. */
export interface ChangeRecord extends Change {
  id: string;
  /** The database's time, in milliseconds since 1970. */
  createdAt: number;
}

export function isEverything({ productIds }: Change): boolean {
  return productIds.includes(EVERYTHING);
}

export interface ChangePage {
  /** The records that the reader has not seen. */
  records: ChangeRecord[];
  /** The ids of all records since the start of the overlap, to pass to the next read. */
  seen: string[];
  /** The database's time at this read, to pass to the next read. A string, because a `Date` would lose microseconds. */
  cursor: string;
  /** The same time as `cursor`, in milliseconds since 1970. */
  now: number;
  /** Whether rows since the previous cursor may have been deleted. */
  hasGap: boolean;
}

/**
 * Reads the records since a cursor and during the overlap before it, except the records in `seen`. Without a cursor,
 * reads all records of the last `RETENTION_MS`.
 * @returns undefined if the database returned no row. This should never happen, because the statement always selects
 * the time.
 * @throws CoreError `unavailable`.
 */
export async function readChanges(
  database: Database,
  { cursor, overlapMs, seen }: { cursor: string | undefined; overlapMs: number; seen: readonly string[] },
  timeoutMs: number,
): Promise<ChangePage | undefined> {
  const lookBackMs = cursor === undefined ? RETENTION_MS : overlapMs;
  const rows = await database.query<ChangeRow>(SELECT_CHANGES, [cursor ?? null, lookBackMs, RETENTION_MS, seen], {
    timeoutMs,
    isPrepared: true,
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    records: rows.flatMap(recordOf),
    seen: rows.flatMap(({ id }) => id ?? []),
    cursor: first.now,
    now: first.now_ms,
    hasGap: first.gap,
  };
}

interface ChangeRow {
  now: string;
  now_ms: number;
  gap: boolean;
  /** NULL if there are no changes. */
  id: string | null;
  /**
   * NULL if the reader has seen the record, so a read on a busy site does not return a thousand known records in full.
   */
  product_ids: string[] | null;
  catalogue: boolean;
  comment_ids: string[];
  created_ms: number;
}

function recordOf({ id, product_ids: productIds, ...row }: ChangeRow): ChangeRecord[] {
  if (id === null || productIds === null) return [];
  return [{ id, productIds, catalogue: row.catalogue, commentIds: row.comment_ids, createdAt: row.created_ms }];
}

/**
 * Always returns a row: the outer join keeps the database's time even without changes. PostgreSQL hashes the
 * subqueries, whereas `<> ALL` would compare each row with thousands of ids.
 */
export const SELECT_CHANGES = `SELECT clock.now::text AS now, (extract(epoch FROM clock.now) * 1000)::float8 AS now_ms,
    coalesce($1::timestamptz < clock.now - $3::integer * interval '1 millisecond', false) AS gap,
    changes.id, changes.catalogue,
    CASE WHEN changes.id NOT IN (SELECT unnest($4::uuid[])) THEN changes.product_ids END AS product_ids,
    CASE WHEN changes.id NOT IN (SELECT unnest($4::uuid[])) THEN changes.comment_ids END AS comment_ids,
    (extract(epoch FROM changes.created_at) * 1000)::float8 AS created_ms
  FROM (SELECT clock_timestamp() AS now) AS clock
  LEFT JOIN changes ON changes.created_at > coalesce($1::timestamptz, clock.now) - $2::integer * interval '1 millisecond'`;
