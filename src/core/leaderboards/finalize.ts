import type { PeriodKind } from '../../contract/leaderboards/period.ts';
import { recordChange } from '../changes/change-feed.ts';
import { updateCounts } from '../counts/block-writes.ts';
import type { Database, Sql } from '../database/database.ts';
import { isLockTimeout } from '../database/database-errors.ts';
import { disableTimeouts } from '../database/transactions.ts';
import { HOUR_MS } from '../runtime.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyCapToLaunches, CAP_BATCH } from './apply-vote-cap.ts';
import { WINDOW_MS, windowStart } from './calendar.ts';
import { CLOSE_WINDOWS, finalizeLaunches, hashFinalHeader, lockDays } from './final-boards.ts';
import type { LeaderboardRules } from './get-leaderboard.ts';
import { readFinalEvents } from './launch-events.ts';
import { refreshLaunches } from './launch-votes.ts';
import { correctRetracted } from './retracted-votes.ts';
import { digestText } from './tally-file.ts';
import { placeLaunches } from './update-boards.ts';
import { findSecret } from './vote-networks.ts';

export interface FinalizeOptions {
  rules: LeaderboardRules;
  votesPerNetwork: number;
  signal?: AbortSignal;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
}

/** The names of the periods whose results became final in this run. */
interface Finalized {
  days: string[];
  /** Weeks, months and years. */
  periods: string[];
}

/**
 * Finalizes all due results: each day in its own transaction, then the weeks, months and years whose days are all
 * final. Leaves periods with launches that cannot be placed yet for a later call, and deletes unneeded secrets. Can be
 * killed at any time, and run in several processes concurrently. `database` must have no statement timeout.
 * @throws CoreError `unavailable`; the reason of `signal` if it aborts.
 */
export async function finalizeDue(database: Database, options: FinalizeOptions): Promise<Finalized> {
  const { rules, votesPerNetwork, signal, recordEvents } = options;
  // Launches that were rescheduled, or that began while no process ran, must be on their boards first.
  const placing = { ...rules, votesPerNetwork };
  for (let mayHaveMore = true; mayHaveMore; ) {
    signal?.throwIfAborted();
    const placed = await placeLaunches(database, placing, recordEvents);
    if (placed.productIds.length > 0) await recordChange(database, { productIds: placed.productIds, catalogue: true });
    mayHaveMore = placed.mayHaveMore;
  }
  // Closes the windows of days that became final before a process was killed.
  await closeWindows(database);
  const unplaced = await findPeriodsWithUnplacedLaunches(database, rules);
  const days: string[] = [];
  for (const day of await findDueDays(database, rules)) {
    signal?.throwIfAborted();
    if (!unplaced.includes(day) && (await finalizeDay(database, day, options))) days.push(day);
    await closeWindows(database);
  }
  const periods = await finalizeLongPeriods(database, unplaced, options);
  await destroySecrets(database, rules);
  return { days, periods };
}

/** Returns the time by which a period must have ended for its result to be due. */
function dueBefore({ now, reviewHours }: LeaderboardRules): string {
  return new Date(now.getTime() - WINDOW_MS - reviewHours * HOUR_MS).toISOString();
}

/** Returns the days whose review is over and whose result is not final yet, oldest first. */
export async function findDueDays(sql: Sql, rules: LeaderboardRules): Promise<string[]> {
  const rows = await sql.query<{ period: string }>(
    `SELECT period FROM leaderboards WHERE final_at IS NULL AND kind = 'day' AND to_at <= $1::timestamptz ORDER BY to_at`,
    [dueBefore(rules)],
  );
  return rows.map((row) => row.period);
}

const FIND_UNPLACED_PERIODS = `SELECT DISTINCT b.period
  FROM leaderboards b JOIN launches l ON l.launched_at >= b.from_at AND l.launched_at < b.to_at
  WHERE b.final_at IS NULL AND b.to_at <= $1::timestamptz AND l.placed_for IS DISTINCT FROM l.launched_at AND NOT l.final`;

/**
 * Returns the due periods with launches that are not on their boards yet, because another transaction has locked the
 * launches or their counts are missing.
 */
async function findPeriodsWithUnplacedLaunches(sql: Sql, rules: LeaderboardRules): Promise<string[]> {
  const rows = await sql.query<{ period: string }>(FIND_UNPLACED_PERIODS, [dueBefore(rules)]);
  return rows.map((row) => row.period);
}

const SELECT_WORK = `SELECT
    EXISTS (SELECT FROM leaderboards WHERE final_at IS NULL AND to_at <= $1::timestamptz)
    OR EXISTS (SELECT FROM site_metadata WHERE name = 'tally secrets deleted' OR name LIKE 'open windows of %')
    OR EXISTS (
      SELECT FROM tally_secrets s WHERE created_at < $2::timestamptz
        AND NOT EXISTS (SELECT FROM leaderboards b WHERE b.period = s.day AND b.final_at IS NULL)
    ) AS is_due`;

/** Returns whether `finalizeDue` has work. */
export async function isFinalizingDue(sql: Sql, rules: LeaderboardRules): Promise<boolean> {
  const [row] = await sql.query<{ is_due: boolean }>(SELECT_WORK, [dueBefore(rules), leftoverBefore(rules)]);
  return row?.is_due ?? false;
}

/**
 * Returns the cutoff time for deleting secrets that no open day needs: only older secrets are deleted. A newer secret
 * may belong to a new launch whose board does not exist yet.
 */
function leftoverBefore({ now }: LeaderboardRules): string {
  return new Date(now.getTime() - HOUR_MS).toISOString();
}

// `final_at` is the announced time, even if the result is stored later.
const SET_FINAL = `UPDATE leaderboards SET digest = $2, final_at = to_at + $3::float8 * interval '1 millisecond',
    votes_per_network = $4 WHERE period = $1`;

const MARK_SECRETS = `INSERT INTO site_metadata (name, value) VALUES ('tally secrets deleted', $1) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`;

const MARK_WINDOWS = `INSERT INTO site_metadata (name, value) VALUES ('open windows of ' || $1::text, $1) ON CONFLICT (name) DO NOTHING`;

// A launch is not ready if it is about to move or its window is still open. The latter happens if SITE_TIME_ZONE
// changed after the day's first launch, because the day keeps the bounds of the previous time zone.
const LOCK_LAUNCHES = `SELECT product_id, placed_for = launched_at AND launched_at <= $2::timestamptz AS is_ready
  FROM launches WHERE day = $1 ORDER BY product_id FOR UPDATE /* omitted on Citus */`;

/**
 * Corrects retracted votes and applies the cap, then finalizes the day in one transaction. No vote is added then,
 * because a day with an open window is not finalized. Visitors do not wait while the tally is written: their writes
 * wait only for locked counts, and the transaction locks counts only if they are wrong. `closeWindows` must follow.
 * @returns false if another process has finalized the day, or a launch of the day is about to move or has an open
 * window.
 */
async function finalizeDay(
  database: Database,
  day: string,
  { rules, votesPerNetwork, signal, recordEvents }: FinalizeOptions,
): Promise<boolean> {
  const ofDay = await database.query<{ product_id: string }>('SELECT product_id FROM launches WHERE day = $1', [day]);
  for (let first = 0; first < ofDay.length; first += CAP_BATCH) {
    signal?.throwIfAborted();
    const batch = ofDay.slice(first, first + CAP_BATCH).map((row) => row.product_id);
    await correctRetracted(database, batch, { now: rules.now, votesPerNetwork });
    await applyCapToLaunches(database, batch, votesPerNetwork);
  }
  return database.transaction(async (sql) => {
    await disableTimeouts(sql);
    if ((await lockDays(sql, [day])).length > 0) return false;
    const values = [day, windowStart(rules.now)];
    const launches = await sql.query<{ product_id: string; is_ready: boolean }>(LOCK_LAUNCHES, values);
    if (launches.some((row) => !row.is_ready)) return false;
    const ids = launches.map((row) => row.product_id);
    const hash = await hashFinalHeader(sql, day);
    await finalizeLaunches(sql, day, ids, { secret: await findSecret(sql, day), hash });
    await refreshLaunches(sql, ids);
    const reviewMs = rules.reviewHours * HOUR_MS;
    await sql.query(SET_FINAL, [day, digestText(hash), WINDOW_MS + reviewMs, votesPerNetwork]);
    await sql.query('DELETE FROM tally_secrets WHERE day = $1', [day]);
    await sql.query(MARK_SECRETS, [rules.now.toISOString()]);
    await sql.query(MARK_WINDOWS, [day]);
    await recordEvents?.(sql, await readFinalEvents(sql, { kind: 'day', periods: [day], now: rules.now }));
    await recordChange(sql, { productIds: ids, catalogue: true });
    return true;
  });
}

const SELECT_OPEN_WINDOWS = `SELECT l.product_id FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.day = $1 AND l.final AND c.window_from <> '-infinity' ORDER BY l.product_id`;

/**
 * Closes the windows of days that have become final, in short transactions, because votes wait for the locked counts.
 */
async function closeWindows(database: Database): Promise<void> {
  const marks = await database.query<{ name: string; day: string }>(
    "SELECT name, value AS day FROM site_metadata WHERE name LIKE 'open windows of %'",
  );
  for (const { name, day } of marks) {
    const rows = await database.query<{ product_id: string }>(SELECT_OPEN_WINDOWS, [day]);
    await updateCounts(
      database,
      rows.map((row) => row.product_id),
      CLOSE_WINDOWS,
    );
    await database.query('DELETE FROM site_metadata WHERE name = $1', [name]);
  }
}

// Locks in a separate statement, so `FINALIZE_LONG_PERIODS` sees what other transactions, such as one that adds a day,
// commit while this one waits for the locks. Locks in the order of `reviseBoards`, to prevent deadlocks.
const LOCK_LONG_PERIODS = `SELECT FROM leaderboards
  WHERE kind <> 'day' AND final_at IS NULL AND to_at <= $1::timestamptz ORDER BY period FOR UPDATE`;

const FINALIZE_LONG_PERIODS = `UPDATE leaderboards b SET final_at = b.to_at + $2::float8 * interval '1 millisecond'
  WHERE b.kind <> 'day' AND b.final_at IS NULL AND b.to_at <= $1::timestamptz AND b.period <> ALL($3::text[]) AND NOT EXISTS (
    SELECT FROM leaderboards d WHERE d.kind = 'day' AND d.final_at IS NULL AND d.from_at < b.to_at AND d.to_at > b.from_at
  )
  RETURNING b.period, b.kind`;

async function finalizeLongPeriods(
  database: Database,
  unplaced: readonly string[],
  { rules, recordEvents }: FinalizeOptions,
): Promise<string[]> {
  return database.transaction(async (sql) => {
    const values = [dueBefore(rules), WINDOW_MS + rules.reviewHours * HOUR_MS, unplaced];
    await sql.query(LOCK_LONG_PERIODS, values.slice(0, 1));
    const rows = await sql.query<{ period: string; kind: PeriodKind }>(FINALIZE_LONG_PERIODS, values);
    for (const kind of recordEvents ? (['week', 'month', 'year'] as const) : []) {
      const periods = rows.filter((row) => row.kind === kind).map((row) => row.period);
      if (periods.length > 0) await recordEvents?.(sql, await readFinalEvents(sql, { kind, periods, now: rules.now }));
    }
    if (rows.length > 0) await recordChange(sql, { productIds: [], catalogue: true });
    return rows.map((row) => row.period);
  });
}

// Deletes secrets that no open day needs: those of days without a board, for example because the only product was
// removed before it was placed, and those of final days, for which a late vote may have created a new secret.
const DELETE_LEFTOVERS = `WITH gone AS (
    DELETE FROM tally_secrets s WHERE created_at < $1::timestamptz AND NOT EXISTS (
      SELECT FROM leaderboards b WHERE b.period = s.day AND b.final_at IS NULL
    ) RETURNING day
  )
  INSERT INTO site_metadata (name, value) SELECT 'tally secrets deleted', max(day) FROM gone HAVING count(*) > 0
  ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value`;

const DELETE_RETRACTED = `DELETE FROM retracted_upvotes r USING launches l WHERE l.product_id = r.product_id AND l.final`;

const SELECT_SECRETS = 'SELECT json_agg(s)::text AS secrets FROM tally_secrets s';

const INSERT_SECRETS = 'INSERT INTO tally_secrets SELECT * FROM json_populate_recordset(NULL::tally_secrets, $1::json)';

/** How long rewriting the secrets waits for a lock. Meanwhile, votes that need a secret from the table wait, too. */
const REWRITE_LOCK_TIMEOUT_MS = 200;

/**
 * Deletes unneeded secrets, and retracted votes of final launches. If secrets were deleted, rewrites their table,
 * because deleted rows would stay readable in its file. If another session, such as `pg_dump`, has locked the table,
 * leaves the rewrite to a later call.
 */
async function destroySecrets(database: Database, rules: LeaderboardRules): Promise<void> {
  await database.query(DELETE_LEFTOVERS, [leftoverBefore(rules)]);
  await database.query(DELETE_RETRACTED);
  const [marked] = await database.query("SELECT FROM site_metadata WHERE name = 'tally secrets deleted'");
  if (marked === undefined) return;
  try {
    await database.transaction(rewriteSecrets);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

/**
 * Moves the remaining secrets to a new file. `VACUUM FULL` would also copy deleted secrets that an older snapshot can
 * see. After `TRUNCATE`, older snapshots see an empty table, so secrets must not be read in a `holdSnapshot`
 * transaction.
 */
async function rewriteSecrets(sql: Sql): Promise<void> {
  await sql.query(`SET LOCAL lock_timeout = ${REWRITE_LOCK_TIMEOUT_MS}`);
  await sql.query('LOCK TABLE tally_secrets IN ACCESS EXCLUSIVE MODE');
  const [remaining] = await sql.query<{ secrets: string | null }>(SELECT_SECRETS);
  await sql.query('TRUNCATE tally_secrets');
  await sql.query(INSERT_SECRETS, [remaining?.secrets]);
  await sql.query("DELETE FROM site_metadata WHERE name = 'tally secrets deleted'");
}
