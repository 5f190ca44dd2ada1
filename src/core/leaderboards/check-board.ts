import type { Hash } from 'node:crypto';
import type { Period } from '../../contract/leaderboards/period.ts';
import { formatQuantity } from '../../contract/text.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordEverythingChanged } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts, holdSnapshot, transactionWithRetries } from '../database/transactions.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { tieOrder } from './calendar.ts';
import { hashFinalHeader, lockDaysOf, NO_VOTES, setCounts, type Totals } from './final-boards.ts';
import { IS_COUNTED, recountLaunches, refreshLaunches, WINDOW_VOTES } from './launch-votes.ts';
import { digestText, readTallyParts, splitLines } from './tally-file.ts';

export interface CheckedBoard {
  launches: number;
  votes: number;
  differences: string[];
  /** The ids of the products with differences. */
  wrong: string[];
}

interface LaunchRow extends Totals {
  product_id: string;
  votes: number;
  tie_order: string;
}

const SELECT_LAUNCHES = (
  kind: Period['kind'],
) => `SELECT l.product_id, l.votes, l.${kind}_order AS tie_order, c.counted, c.excluded_network, c.excluded_operator
  FROM launches l JOIN product_counts c ON c.product_id = l.product_id WHERE l.${kind} = $1 ORDER BY l.product_id`;

const COUNT_ROWS = `SELECT product_id, (count(*) FILTER (WHERE ${IS_COUNTED}))::integer AS counted,
    (count(*) FILTER (WHERE verdict = 'network'))::integer AS excluded_network,
    (count(*) FILTER (WHERE verdict = 'operator'))::integer AS excluded_operator
  FROM (${WINDOW_VOTES}) AS w GROUP BY product_id`;

/**
 * Maximum attempts to check a period. A board may briefly lag behind the votes. If so, it is updated and checked again.
 */
const MAX_ATTEMPTS = 3;

/**
 * Recounts a period from the votes or, for finalized days, from the stored tallies, and compares the counts, the order
 * of ties, the histogram of votes and the digests with the stored ones. Changes nothing, except that it updates boards
 * that lag. `database` must have no statement timeout.
 * @returns undefined for a period without a leaderboard.
 */
export async function checkBoard(database: Database, period: Period): Promise<CheckedBoard | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const checked = await database.transaction((sql) => check(sql, period));
    if (checked === undefined || checked.behind.length === 0 || attempt === MAX_ATTEMPTS) return checked;
    await refreshLaunches(database, checked.behind);
  }
}

/**
 * Returns the number of launches in a period, whether or not its leaderboard exists. @throws CoreError `unavailable`.
 */
export async function countLaunches(sql: Sql, { name, kind }: Period): Promise<number> {
  const [row] = await sql.query<{ launches: number }>(
    `SELECT count(*)::integer AS launches FROM launches WHERE ${kind} = $1`,
    [name],
  );
  return row?.launches ?? 0;
}

async function check(sql: Sql, { name, kind }: Period): Promise<(CheckedBoard & { behind: string[] }) | undefined> {
  await holdSnapshot(sql);
  await disableTimeouts(sql);
  const boards = await sql.query('SELECT FROM leaderboards WHERE period = $1', [name]);
  if (boards.length === 0) return undefined;
  const launches = await sql.query<LaunchRow>(SELECT_LAUNCHES(kind), [name]);
  const differences: string[] = [];
  const compare = (what: string, recounted: number | string, stored: number | string) => {
    if (recounted !== stored) differences.push(`${what}: recounted ${recounted}, stored ${stored}`);
  };
  const recounted = await recount(sql, name, kind, compare);
  const wrong: string[] = [];
  for (const launch of launches) {
    const differencesBefore = differences.length;
    const own = recounted.get(launch.product_id) ?? NO_VOTES;
    compare(`${launch.product_id}: counted votes`, own.counted, launch.counted);
    compare(`${launch.product_id}: votes excluded for their network`, own.excluded_network, launch.excluded_network);
    compare(`${launch.product_id}: votes excluded by the operator`, own.excluded_operator, launch.excluded_operator);
    compare(`${launch.product_id}: votes on the board`, launch.counted, launch.votes);
    compare(`${launch.product_id}: order among ties`, tieOrder(name, launch.product_id), launch.tie_order);
    if (differences.length > differencesBefore) wrong.push(launch.product_id);
  }
  const histogram = await sql.query<{ votes: number; products: number }>(
    'SELECT votes, products FROM leaderboard_counts WHERE period = $1 AND products <> 0 ORDER BY votes',
    [name],
  );
  const stored = new Map(histogram.map((row) => [row.votes, row.products]));
  const actual = new Map<number, number>();
  for (const { votes } of launches) actual.set(votes, (actual.get(votes) ?? 0) + 1);
  for (const votes of new Set([...stored.keys(), ...actual.keys()])) {
    compare(`products with ${formatQuantity(votes, 'vote')}`, actual.get(votes) ?? 0, stored.get(votes) ?? 0);
  }
  const behind = launches.filter(({ votes, counted }) => votes !== counted).map((launch) => launch.product_id);
  const votes = launches.reduce((sum, launch) => sum + launch.counted, 0);
  return { launches: launches.length, votes, differences, wrong, behind };
}

/**
 * Counts the votes of each launch from the rows of votes or, for a finalized day, from the stored tally. Compares the
 * digest of the tally as well.
 */
async function recount(
  sql: Sql,
  name: string,
  kind: Period['kind'],
  compare: (what: string, recounted: string, stored: string) => void,
): Promise<ReadonlyMap<string, Totals>> {
  const totals = new Map<string, Totals>();
  const open = await sql.query<{ product_id: string }>(
    `SELECT product_id FROM launches WHERE ${kind} = $1 AND NOT final ORDER BY product_id`,
    [name],
  );
  const ids = open.map((row) => row.product_id);
  for (const { product_id: id, ...row } of await sql.query<LaunchRow>(COUNT_ROWS, [ids])) totals.set(id, row);
  const days = await sql.query<{ day: string; digest: string }>(
    `SELECT period AS day, digest FROM leaderboards WHERE kind = 'day' AND final_at IS NOT NULL
       AND (period = $1 OR period IN (SELECT day FROM launches WHERE ${kind} = $1)) ORDER BY period`,
    [name],
  );
  for (const { day, digest } of days) {
    const hash = await hashFinalHeader(sql, day);
    for (const [id, total] of await tallyTotals(sql, day, undefined, hash)) totals.set(id, total);
    compare(`${day}: digest`, digestText(hash), digest);
  }
  return totals;
}

/**
 * Counts the votes for each product in the stored tally of a finalized day, or only those for `product`. `hash`
 * receives every line.
 */
async function tallyTotals(sql: Sql, day: string, product?: string, hash?: Hash): Promise<ReadonlyMap<string, Totals>> {
  const totals = new Map<string, Totals>();
  for await (const { productId, text } of readTallyParts(sql, day, product)) {
    hash?.update(text);
    const total = totals.get(productId) ?? { ...NO_VOTES };
    for (const line of splitLines(text)) {
      const { reason }: { reason: 'network' | 'operator' | null } = JSON.parse(line);
      total[reason === null ? 'counted' : (`excluded_${reason}` as const)] += 1;
    }
    totals.set(productId, total);
  }
  return totals;
}

const SET_ORDERS = (kind: Period['kind']) => `UPDATE launches l SET ${kind}_order = row.tie_order
  FROM jsonb_to_recordset($1::jsonb) AS row (product_id text, tie_order uuid)
  WHERE l.product_id = row.product_id AND l.${kind} = $2`;

const DELETE_HISTOGRAM = 'DELETE FROM leaderboard_counts WHERE period = $1';

const FILL_HISTOGRAM = (kind: Period['kind']) => `INSERT INTO leaderboard_counts (period, votes, products)
  SELECT ${kind}, votes, count(*) FROM launches WHERE ${kind} = $1 AND placed_for IS NOT NULL GROUP BY ${kind}, votes`;

/**
 * Corrects the differences that `checkBoard` finds in counts, votes on boards, the order of ties and the histogram of
 * votes, and adds an entry to the audit log. A final tally that does not match its digest is left unchanged. `database`
 * must have no statement timeout.
 * @returns the differences found, and those that remain; undefined for a period without a leaderboard.
 */
export async function repairBoard(
  database: Database,
  period: Period,
  votesPerNetwork: number,
): Promise<{ found: CheckedBoard; left: CheckedBoard } | undefined> {
  const found = await checkBoard(database, period);
  if (found === undefined || found.differences.length === 0) return found && { found, left: found };
  const { name, kind } = period;
  await transactionWithRetries(database, async (sql) => {
    await disableTimeouts(sql);
    await lockDaysOf(sql, found.wrong);
    await lockCounts(sql, found.wrong);
    await recountLaunches(sql, found.wrong);
    await applyVoteCap(sql, found.wrong, votesPerNetwork);
    await recountFinal(sql, found.wrong);
    // Blocks other transactions that move launches until this one has committed, so the new histogram counts every
    // move. Locks the table before any of its rows, to prevent deadlocks.
    await sql.query('LOCK TABLE leaderboard_counts IN SHARE ROW EXCLUSIVE MODE');
    await refreshLaunches(sql, found.wrong);
    const orders = found.wrong.map((id) => ({ product_id: id, tie_order: tieOrder(name, id) }));
    await sql.query(SET_ORDERS(kind), [JSON.stringify(orders), name]);
    await sql.query(DELETE_HISTOGRAM, [name]);
    await sql.query(FILL_HISTOGRAM(kind), [name]);
    await recordAudit(sql, {
      action: 'leaderboards repair',
      target: name,
      details: { differences: found.differences.length },
    });
    await recordEverythingChanged(sql);
  });
  return { found, left: (await checkBoard(database, period)) ?? found };
}

/** Sets the counts of final launches from their stored tallies, because the tallies are the results. */
async function recountFinal(sql: Sql, productIds: readonly string[]): Promise<void> {
  const final = await sql.query<{ product_id: string; day: string }>(
    'SELECT product_id, day FROM launches WHERE product_id = ANY($1::text[]) AND final ORDER BY product_id',
    [productIds],
  );
  for (const { product_id, day } of final) {
    const totals = (await tallyTotals(sql, day, product_id)).get(product_id);
    await setCounts(sql, [{ product_id, ...NO_VOTES, ...totals }]);
  }
}
