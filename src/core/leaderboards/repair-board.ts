import type { Period } from '../../contract/leaderboards/period.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordEverythingChanged } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts } from '../database/transactions.ts';
import { type CheckedBoard, checkBoard, tallyTotals } from './check-board.ts';
import { setCounts } from './fix-launches.ts';
import { recountLaunches } from './recount-launches.ts';
import { refreshLaunches } from './refresh-launches.ts';
import { lockDaysOf } from './revise-boards.ts';
import { settleLaunches } from './settle-networks.ts';

const DELETE_HISTOGRAM = 'DELETE FROM leaderboard_counts WHERE period = $1';

const FILL_HISTOGRAM = (kind: Period['kind']) => `INSERT INTO leaderboard_counts (period, votes, products)
  SELECT ${kind}, votes, count(*) FROM launches WHERE ${kind} = $1 AND placed_for IS NOT NULL GROUP BY ${kind}, votes`;

/**
 * Corrects the differences of `checkBoard`: counts, places and the histogram of votes. A final tally that does not
 * match its digest stays. Recorded in the audit log. `database` must not limit the time of statements.
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
  await database.transaction(async (sql) => {
    await disableTimeouts(sql);
    await lockDaysOf(sql, found.wrong);
    await lockCounts(sql, found.wrong);
    await recountLaunches(sql, found.wrong);
    await settleLaunches(sql, found.wrong, votesPerNetwork);
    await recountFinal(sql, found.wrong);
    await refreshLaunches(sql, found.wrong);
    // Concurrent moves of launches wait, and then see the state that is committed here.
    await sql.query('LOCK TABLE leaderboard_counts IN SHARE ROW EXCLUSIVE MODE');
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

/** The result of a final launch is its stored tally. */
async function recountFinal(sql: Sql, productIds: readonly string[]): Promise<void> {
  const final = await sql.query<{ product_id: string; day: string }>(
    'SELECT product_id, day FROM launches WHERE product_id = ANY($1::text[]) AND final ORDER BY product_id',
    [productIds],
  );
  for (const { product_id, day } of final) {
    const totals = (await tallyTotals(sql, day, product_id)).get(product_id);
    await setCounts(sql, [{ product_id, counted: 0, excluded_network: 0, excluded_operator: 0, ...totals }]);
  }
}
