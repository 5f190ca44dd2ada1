import { PERIOD_KINDS, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import { VOTES_PER_NETWORK } from '../../contract/limits.ts';
import { LARGE_CHANGE_ROWS } from '../counts/block-writes.ts';
import { lockAvailableCounts, lockWritableCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { isLockTimeout, isStatementTimeout } from '../database/database-errors.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { boundsOf, dayAt, periodsAt, statusAt, tieOrder } from './calendar.ts';
import { finalizeLateLaunches, lockDays, periodsOf, reviseBoards } from './final-boards.ts';
import { firstLaunch, type LeaderboardRules } from './get-leaderboard.ts';
import { countPlaced, updateHistogram } from './histogram.ts';
import { readLaunchEvents } from './launch-events.ts';
import { recountingTransaction, recountLaunches, refreshLaunches } from './launch-votes.ts';
import { deleteRetracted } from './retracted-votes.ts';

/** Maximum launches per transaction, so visitors and imports wait only briefly. */
const BATCH = 1_000;

/** How long placing a launch that a visitor views waits for a lock. */
const VIEW_LOCK_TIMEOUT_MS = 1_000;

interface PlacingRow {
  product_id: string;
  day: string | null;
  /** Null if the launch is on no board. */
  placed_for: Date | null;
  launched_at: Date;
  has_begun: boolean;
}

/**
 * SQL: whether a launch has begun at the time `$1`. Launches in the year 1, which may be a placeholder for a missing
 * date, are never placed: in the site's time zone, their periods may begin before that year and cannot be named.
 */
export const HAS_BEGUN = "launched_at <= $1::timestamptz AND launched_at >= '0002-01-01T00:00:00Z'";

const COLUMNS = `product_id, launched_at, placed_for, ${HAS_BEGUN} AS has_begun, day`;

const TO_PLACE = `placed_for IS DISTINCT FROM launched_at AND NOT final AND (placed_for IS NOT NULL OR (${HAS_BEGUN}))`;

// The newest launches come first, so each batch of an import into a new site extends the boards backwards; see
// `insertLeaderboards`.
const FIND_TO_PLACE = `SELECT ${COLUMNS} FROM launches WHERE ${TO_PLACE} ORDER BY launched_at DESC LIMIT ${BATCH}`;

const FIND_ONE_TO_PLACE = `SELECT ${COLUMNS} FROM launches WHERE product_id = $2 AND ${TO_PLACE}
  AND (SELECT upvotes FROM product_counts WHERE product_id = $2) < ${LARGE_CHANGE_ROWS}`;

/** SQL: whether a launch was put on its boards too early, because the clock was ahead and has been set back. */
const PLACED_TOO_EARLY = "placed_for > $1::timestamptz + interval '2 minutes' AND NOT final";

// A separate statement from `FIND_TO_PLACE`, because the two conditions use different indexes.
const FIND_PLACED_TOO_EARLY = `SELECT ${COLUMNS} FROM launches
  WHERE launched_at > $1::timestamptz + interval '2 minutes' AND ${PLACED_TOO_EARLY} LIMIT ${BATCH}`;

// Skips locked launches: an import locks the launches that it moves until it commits. If this statement waited for the
// import, voters would wait for the counts that this transaction has locked.
const LOCK_TO_PLACE = `SELECT ${COLUMNS}
  FROM launches WHERE product_id = ANY($2::text[]) AND (${TO_PLACE} OR ${PLACED_TOO_EARLY})
  ORDER BY product_id FOR UPDATE SKIP LOCKED /* product by product on Citus */`;

/** SQL: removes launches from their boards; a condition may follow. */
export const UNPLACE = `UPDATE launches SET placed_for = NULL, day = NULL, week = NULL, month = NULL, year = NULL, votes = 0
  WHERE product_id = ANY($1::text[])`;

const RESET_LAUNCH_TIMES = 'UPDATE launches SET launched_at = placed_for WHERE product_id = ANY($1::text[])';

const PLACE = `UPDATE launches l SET placed_for = l.launched_at, votes = c.counted,
    day = row.day, week = row.week, month = row.month, year = row.year,
    day_order = row.day_order, week_order = row.week_order, month_order = row.month_order, year_order = row.year_order
  FROM jsonb_to_recordset($1::jsonb) AS row (product_id text, day text, week text, month text, year text,
      day_order uuid, week_order uuid, month_order uuid, year_order uuid)
    JOIN product_counts c ON c.product_id = row.product_id
  WHERE l.product_id = row.product_id`;

const INSERT_LEADERBOARDS = `INSERT INTO leaderboards (period, kind, time_zone, from_at, to_at, revision, revised_at)
  SELECT period, kind, $2, from_at, to_at, was_final::integer, CASE WHEN was_final THEN clock_timestamp() END
  FROM jsonb_to_recordset($1::jsonb) AS row (period text, kind text, from_at timestamptz, to_at timestamptz, was_final boolean)
  ORDER BY period ON CONFLICT (period) DO NOTHING`;

interface PlacingResult {
  /** The products whose places changed, and those whose previous launch time was restored. */
  productIds: string[];
  /** Whether the batch was full or reduced, so there may be more launches to place; false if `isBlocked`. */
  mayHaveMore: boolean;
  /**
   * Whether some of the launches were skipped, for example because an import has locked them, so the caller must try
   * again.
   */
  isBlocked: boolean;
}

interface PlacingOptions extends LeaderboardRules {
  votesPerNetwork?: number | undefined;
  /**
   * Whether to also remove launches that begin more than two minutes after `now` from their boards, in case the clock
   * was set back.
   */
  removesEarly?: boolean;
  /** When aborted, no smaller batch is tried after a statement timeout. */
  signal?: AbortSignal;
}

/**
 * Places one batch of launches: puts launches that have begun on their boards, moves those whose launch time changed,
 * and removes those that are now in the future. A launch with votes stays on its boards if its new day is final or due.
 * After a statement timeout, places half as many. Several processes may place launches concurrently.
 */
export async function placeLaunches(
  database: Database,
  options: PlacingOptions,
  recordEvents?: RecordEvents,
): Promise<PlacingResult> {
  const now = options.now.toISOString();
  const found = await database.query<PlacingRow>(FIND_TO_PLACE, [now]);
  const early = options.removesEarly ? await database.query<PlacingRow>(FIND_PLACED_TOO_EARLY, [now]) : [];
  found.push(...early.slice(0, BATCH - found.length));
  if (found.length === 0) return { productIds: [], mayHaveMore: false, isBlocked: false };
  let mayHaveMore = found.length === BATCH;
  for (;;) {
    try {
      const ids = found.map((row) => row.product_id);
      const placed = await recountingTransaction(database, ids, (sql) => placeFound(sql, found, options, recordEvents));
      return { ...placed, mayHaveMore: mayHaveMore && !placed.isBlocked };
    } catch (error) {
      if (found.length === 1 || options.signal?.aborted || !isStatementTimeout(error)) throw error;
      found.splice(Math.ceil(found.length / 2));
      mayHaveMore = true;
    }
  }
}

/**
 * Places one launch for a visitor who views it, like `placeLaunches`. The board updater places the launch later if it
 * has many votes, or if another transaction, such as a restore, holds a lock for longer than a second.
 * @returns whether the launch was placed or its previous launch time was restored.
 */
export async function placeLaunch(
  database: Database,
  productId: string,
  options: Omit<PlacingOptions, 'removesEarly' | 'signal'>,
  recordEvents?: RecordEvents,
): Promise<boolean> {
  const found = await database.query<PlacingRow>(FIND_ONE_TO_PLACE, [options.now.toISOString(), productId]);
  if (found.length === 0) return false;
  try {
    const { productIds } = await database.transaction(async (sql) => {
      await sql.query(`SET LOCAL lock_timeout = ${VIEW_LOCK_TIMEOUT_MS}`);
      // Waits for the counts: if voters in several processes lock them without a gap, the updater keeps skipping them.
      return placeFound(sql, found, options, recordEvents, lockWritableCounts);
    });
    return productIds.length > 0;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

async function placeFound(
  sql: Sql,
  found: readonly PlacingRow[],
  { votesPerNetwork = VOTES_PER_NETWORK, ...rules }: PlacingOptions,
  recordEvents?: RecordEvents,
  lock: (sql: Sql, productIds: readonly string[]) => Promise<string[]> = lockAvailableCounts,
): Promise<Pick<PlacingResult, 'productIds' | 'isBlocked'>> {
  const { now, timeZone } = rules;
  const timesOf = (row: Pick<PlacingRow, 'launched_at' | 'placed_for'>) =>
    `${row.launched_at.getTime()} ${row.placed_for?.getTime()}`;
  const foundTimes = new Map(found.map((row) => [row.product_id, timesOf(row)]));
  const begun = found.filter((row) => row.has_begun);
  const movedToDueDays = await findMovedToDueDays(sql, begun, rules);
  const staying = await findVotedFor(sql, movedToDueDays);
  const places = begun
    .filter((row) => !staying.has(row.product_id))
    .map((row) => ({ product_id: row.product_id, ...boardPlaces(row.product_id, row.launched_at, timeZone) }));
  await insertLeaderboards(sql, places, rules);
  await lockDays(
    sql,
    [...places, ...found].flatMap(({ day }) => day ?? []),
  );
  // Counts are locked before launches, to prevent deadlocks. Launches that another transaction has locked are placed
  // later.
  const candidates = await lock(
    sql,
    found.map((row) => row.product_id),
  );
  const locked = await sql.query<PlacingRow>(LOCK_TO_PLACE, [now.toISOString(), candidates]);
  // Launches that were edited, were placed or got their first vote after they were found are left for the next call.
  const voted = await findVotedFor(sql, movedToDueDays);
  const unchanged = locked.filter(
    ({ product_id: id, ...row }) => timesOf(row) === foundTimes.get(id) && voted.has(id) === staying.has(id),
  );
  const stayed = unchanged.map((row) => row.product_id).filter((id) => staying.has(id));
  await keepOnBoards(sql, stayed, votesPerNetwork);
  const rows = unchanged.filter((row) => !staying.has(row.product_id));
  const moving = rows.map((row) => row.product_id);
  const previousPeriods = await periodsOf(sql, moving);
  const removed = await countPlaced(sql, moving);
  // Launches that have begun are updated only once, below: a second update in the same transaction would check the
  // foreign key, which locks the product.
  await sql.query(UNPLACE, [rows.filter((row) => !row.has_begun).map((row) => row.product_id)]);
  await deleteRetracted(sql, moving, now);
  const begunIds = rows.filter((row) => row.has_begun).map((row) => row.product_id);
  const placed = new Set(begunIds);
  await recountLaunches(sql, moving);
  await applyVoteCap(sql, moving, votesPerNetwork);
  await sql.query(PLACE, [JSON.stringify(places.filter((place) => placed.has(place.product_id)))]);
  const added = await countPlaced(sql, begunIds);
  await finalizeLateLaunches(sql, begunIds);
  const periods = [...previousPeriods, ...(await periodsOf(sql, begunIds))];
  await reviseBoards(sql, periods, async () => {
    await updateHistogram(sql, { added, removed });
    await refreshLaunches(sql, begunIds);
  });
  const launched = rows.filter((row) => row.has_begun && row.placed_for === null).map((row) => row.product_id);
  if (recordEvents && launched.length > 0) await recordEvents(sql, await readLaunchEvents(sql, launched, now));
  return { productIds: [...stayed, ...moving], isBlocked: unchanged.length < found.length };
}

/**
 * Returns the launches that were moved to a day whose result is final or due. Launches with votes stay on their boards
 * instead, because a move would lose the votes, and undoing the move would not restore them. Postponed launches move,
 * because they are on no board.
 */
async function findMovedToDueDays(
  sql: Sql,
  begun: readonly PlacingRow[],
  { now, timeZone, reviewHours }: LeaderboardRules,
): Promise<string[]> {
  const moved = begun
    .filter((row) => row.placed_for !== null)
    .map((row) => ({ id: row.product_id, day: dayAt(row.launched_at, timeZone) }));
  if (moved.length === 0) return [];
  const final = await sql.query<{ period: string }>(
    'SELECT period FROM leaderboards WHERE period = ANY($1::text[]) AND final_at IS NOT NULL',
    [moved.map(({ day }) => day)],
  );
  const finalDays = new Set(final.map((row) => row.period));
  const isDue = (day: string) => statusAt(now, leaderboardRow(day, timeZone).to_at, reviewHours).status === 'final';
  return moved.filter(({ day }) => finalDays.has(day) || isDue(day)).map(({ id }) => id);
}

/** Returns the launches that have votes in their windows, whether or not the votes count. */
async function findVotedFor(sql: Sql, productIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (productIds.length === 0) return new Set();
  const rows = await sql.query<{ product_id: string }>(
    `SELECT product_id FROM product_counts
     WHERE product_id = ANY($1::text[]) AND counted + excluded_network + excluded_operator > 0`,
    [productIds],
  );
  return new Set(rows.map((row) => row.product_id));
}

/** Resets these launches to the times for which they were placed, and recounts their votes. */
async function keepOnBoards(sql: Sql, productIds: readonly string[], votesPerNetwork: number): Promise<void> {
  if (productIds.length === 0) return;
  await sql.query(RESET_LAUNCH_TIMES, [productIds]);
  await recountLaunches(sql, productIds);
  await applyVoteCap(sql, productIds, votesPerNetwork);
  await refreshLaunches(sql, productIds);
}

/**
 * Inserts missing periods. A period that was shown as final without launches gets a revision, because its result
 * changes.
 */
async function insertLeaderboards(
  sql: Sql,
  places: readonly Record<PeriodKind, string>[],
  { now, timeZone, reviewHours }: LeaderboardRules,
): Promise<void> {
  const first = await firstLaunch(sql, now);
  const names = new Set(places.flatMap((place) => PERIOD_KINDS.map((kind) => place[kind])));
  const leaderboards = [...names].map((name) => {
    const row = leaderboardRow(name, timeZone);
    return { ...row, was_final: row.to_at > first && statusAt(now, row.to_at, reviewHours).status === 'final' };
  });
  await sql.query(INSERT_LEADERBOARDS, [JSON.stringify(leaderboards), timeZone]);
}

/** Returns the periods of a launch, and its tie order in each, as columns of `launches`. */
export function boardPlaces(productId: string, launchedAt: Date, timeZone: string) {
  const periods = periodsAt(launchedAt, timeZone);
  return {
    ...periods,
    day_order: tieOrder(periods.day, productId),
    week_order: tieOrder(periods.week, productId),
    month_order: tieOrder(periods.month, productId),
    year_order: tieOrder(periods.year, productId),
  };
}

/** Returns the row of `leaderboards` for a named period. @throws RangeError if the name is invalid. */
export function leaderboardRow(name: string, timeZone: string) {
  const period = parsePeriod(name);
  if (period === undefined) throw new RangeError(`'${name}' is not a period`);
  const { from, to } = boundsOf(period, timeZone);
  return { period: name, kind: period.kind, from_at: from, to_at: to };
}
