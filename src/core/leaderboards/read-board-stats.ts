import type { Sql } from '../database/database.ts';
import { findDueDays } from './finalize.ts';
import type { LeaderboardRules } from './get-leaderboard.ts';

/** Numbers for metrics: leaderboards by state, and votes for the launches of the last four days. */
export interface BoardStats {
  /** `open` counts all leaderboards that are not final; `overdue` counts the days among them whose result is due. */
  boards: { open: number; final: number; overdue: number };
  votes: { counted: number; network: number; operator: number };
}

const SELECT_BOARDS = `SELECT count(*) FILTER (WHERE final_at IS NULL)::integer AS open,
    count(*) FILTER (WHERE final_at IS NOT NULL)::integer AS final FROM leaderboards`;

const SELECT_VOTES = `SELECT coalesce(sum(c.counted), 0)::float8 AS counted, coalesce(sum(c.excluded_network), 0)::float8 AS network,
    coalesce(sum(c.excluded_operator), 0)::float8 AS operator
  FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.launched_at > $1::timestamptz - interval '4 days' AND l.launched_at <= $1::timestamptz`;

/** Reads the numbers of leaderboards and votes. @throws CoreError `unavailable`. */
export async function readBoardStats(sql: Sql, rules: LeaderboardRules): Promise<BoardStats> {
  const [boards] = await sql.query<{ open: number; final: number }>(SELECT_BOARDS);
  const [votes] = await sql.query<BoardStats['votes']>(SELECT_VOTES, [rules.now.toISOString()]);
  const overdue = (await findDueDays(sql, rules)).length;
  return {
    boards: { open: 0, final: 0, ...boards, overdue },
    votes: votes ?? { counted: 0, network: 0, operator: 0 },
  };
}
