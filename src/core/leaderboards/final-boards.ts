import { createHash, type Hash, randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { LEADERBOARD_COLUMNS, type LeaderboardRow } from './get-leaderboard.ts';
import { type LaunchVote, readHeader, readVotes } from './read-tally.ts';
import { digestText, readTallyParts, writeTallyParts } from './tally-file.ts';

const lockStatement = (kinds: string) =>
  `SELECT period, final_at FROM leaderboards WHERE period = ANY($1::text[]) AND ${kinds} ORDER BY period FOR UPDATE`;

const LOCK_DAYS = lockStatement("kind = 'day'");
const LOCK_LONG_PERIODS = lockStatement("kind <> 'day'");

/** Locks the periods that `statement` selects. @returns the names of those that are final. */
async function lockPeriods(sql: Sql, statement: string, periods: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ period: string; final_at: Date | null }>(statement, [periods]);
  return rows.filter((row) => row.final_at !== null).map((row) => row.period);
}

/**
 * Locks these days until the transaction ends, which blocks finalizing them, adding and removing their launches, and
 * changing verdicts. To prevent deadlocks, call it before counts, launches or `leaderboard_counts` are locked.
 * @returns the days that are final.
 */
export function lockDays(sql: Sql, days: readonly string[]): Promise<string[]> {
  return lockPeriods(sql, LOCK_DAYS, days);
}

/** Like `lockDays`, for the days whose boards contain these products. */
export async function lockDaysOf(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ day: string }>(
    'SELECT DISTINCT day FROM launches WHERE product_id = ANY($1::text[]) AND day IS NOT NULL',
    [productIds],
  );
  return lockDays(
    sql,
    rows.map((row) => row.day),
  );
}

/** Returns the names of the periods whose boards contain these products. */
export async function periodsOf(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ period: string }>(
    `SELECT DISTINCT period FROM launches CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period
     WHERE product_id = ANY($1::text[]) AND placed_for IS NOT NULL`,
    [productIds],
  );
  return rows.map((row) => row.period);
}

const FIND_LATE = `SELECT l.day, b.votes_per_network, array_agg(l.product_id ORDER BY l.product_id) AS product_ids
  FROM launches l JOIN leaderboards b ON b.period = l.day
  WHERE l.product_id = ANY($1::text[]) AND NOT l.final AND b.final_at IS NOT NULL
  GROUP BY l.day, b.votes_per_network ORDER BY l.day`;

/**
 * Finalizes launches that were added to the board of a finalized day, for example by a restoration, with the cap of
 * that day. The caller must have inserted or locked their counts, and must refresh the launches (`refreshLaunches`)
 * after `updateHistogram`.
 */
export async function finalizeLateLaunches(sql: Sql, productIds: readonly string[]): Promise<void> {
  const late = await sql.query<{ day: string; votes_per_network: number | null; product_ids: string[] }>(FIND_LATE, [
    productIds,
  ]);
  for (const { day, votes_per_network: votesPerNetwork, product_ids: ids } of late) {
    if (votesPerNetwork !== null) await applyVoteCap(sql, ids, votesPerNetwork);
    await finalizeLaunches(sql, day, ids);
    await sql.query(CLOSE_WINDOWS, [ids]);
  }
}

const ADD_REVISION =
  'UPDATE leaderboards SET revision = revision + 1, revised_at = clock_timestamp() WHERE period = ANY($1::text[])';

/**
 * Increments the revision of each of these periods that is final, and updates the digest of each finalized day. Locks
 * the other periods as well, so none becomes final before the change is committed. Must be called after `lockDays` and
 * after every change to launches in these periods and to the tallies of the days.
 * @param updateCounts changes counts and histograms. Visitors and new launches wait for these rows, so it runs only
 * after the digests of the days have been computed, which takes long. It runs before the weeks, months and years are
 * locked.
 * @returns the names of the revised periods.
 */
export async function reviseBoards(
  sql: Sql,
  periods: readonly string[],
  updateCounts?: () => Promise<void>,
): Promise<string[]> {
  const days = await lockDays(sql, periods);
  await sql.query(ADD_REVISION, [days]);
  for (const day of days) {
    const hash = await hashFinalHeader(sql, day);
    for await (const { text } of readTallyParts(sql, day)) hash.update(text);
    await sql.query('UPDATE leaderboards SET digest = $2 WHERE period = $1', [day, digestText(hash)]);
  }
  await updateCounts?.();
  const longPeriods = await lockPeriods(sql, LOCK_LONG_PERIODS, periods);
  await sql.query(ADD_REVISION, [longPeriods]);
  return [...days, ...longPeriods];
}

/**
 * Starts the digest of the tally of a day that is final or becomes final, and adds the header.
 * @throws RangeError if the day has no leaderboard.
 */
export async function hashFinalHeader(sql: Sql, day: string): Promise<Hash> {
  const [board] = await sql.query<LeaderboardRow>(
    `SELECT ${LEADERBOARD_COLUMNS} FROM leaderboards b WHERE period = $1`,
    [day],
  );
  if (board === undefined) throw new RangeError(`There is no leaderboard of ${day}`);
  const { time_zone: timeZone, from_at, to_at, revision } = board;
  const bounds = { from: from_at.toISOString(), to: to_at.toISOString() };
  const hash = createHash('sha256');
  for await (const piece of readHeader(sql, { period: day, timeZone, ...bounds, status: 'final', revision }))
    hash.update(piece);
  return hash;
}

/** The numbers of counted and excluded votes of a launch. */
export interface Totals {
  counted: number;
  excluded_network: number;
  excluded_operator: number;
}

export const NO_VOTES: Readonly<Totals> = { counted: 0, excluded_network: 0, excluded_operator: 0 };

type LaunchTotals = Totals & { product_id: string };

// Skips rows with correct counts, so visitors who upvote these launches do not wait for this transaction.
const SET_COUNTS = `UPDATE product_counts c SET counted = t.counted, excluded_network = t.excluded_network,
    excluded_operator = t.excluded_operator, window_changes = c.window_changes + 1
  FROM jsonb_to_recordset($1::jsonb) AS t (product_id text, counted integer, excluded_network integer, excluded_operator integer)
  WHERE c.product_id = t.product_id
    AND (c.counted, c.excluded_network, c.excluded_operator) IS DISTINCT FROM (t.counted, t.excluded_network, t.excluded_operator)`;

/**
 * SQL: closes the windows of the final launches `$1` permanently, so no vote counts if the clock was ahead and is set
 * back into the window.
 */
export const CLOSE_WINDOWS =
  "UPDATE product_counts SET window_from = '-infinity', has_decisions = false WHERE product_id = ANY($1::text[])";

/**
 * Makes the results of these launches final: stores their tally, and sets their counts to the votes in it. The caller
 * must have locked the day (`lockDays`), and must refresh the launches (`refreshLaunches`) and close the windows
 * (`CLOSE_WINDOWS`). If there is no `secret`, because it was destroyed or never created, a random one is used. `hash`
 * receives every line of the tally.
 */
export async function finalizeLaunches(
  sql: Sql,
  day: string,
  productIds: readonly string[],
  { secret = randomBytes(32), hash = createHash('sha256') }: { secret?: Buffer | undefined; hash?: Hash } = {},
): Promise<void> {
  const totals = new Map(productIds.map((id) => [id, { product_id: id, ...NO_VOTES }]));
  await sql.query('DELETE FROM tally_parts WHERE product_id = ANY($1::text[])', [productIds]);
  await writeTallyParts(sql, day, countedVotes(readVotes(sql, productIds, secret), totals), hash);
  await setCounts(sql, [...totals.values()]);
  await sql.query('UPDATE launches SET final = true WHERE product_id = ANY($1::text[])', [productIds]);
  await sql.query('DELETE FROM retracted_upvotes WHERE product_id = ANY($1::text[])', [productIds]);
  await sql.query('DELETE FROM vote_decisions WHERE product_id = ANY($1::text[])', [productIds]);
}

/** Stores the numbers of counted and excluded votes of launches. The caller must refresh them (`refreshLaunches`). */
export async function setCounts(sql: Sql, totals: readonly LaunchTotals[]): Promise<void> {
  await sql.query(SET_COUNTS, [JSON.stringify(totals)]);
}

async function* countedVotes(
  batches: AsyncIterable<LaunchVote[]>,
  totals: ReadonlyMap<string, Totals>,
): AsyncGenerator<LaunchVote[]> {
  for await (const batch of batches) {
    for (const { product, reason } of batch) {
      const total = totals.get(product);
      if (total) total[reason === null ? 'counted' : (`excluded_${reason}` as const)] += 1;
    }
    yield batch;
  }
}
