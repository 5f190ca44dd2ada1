import { type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import type { LeaderboardList, LeaderboardListQuery, LeaderboardSummary } from '../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, type KeysetOrder, orderBy, pageOf } from '../keyset.ts';
import { describePeriod, LEADERBOARD_COLUMNS, type LeaderboardRow, type LeaderboardRules } from './get-leaderboard.ts';

type SummaryRow = LeaderboardRow & Pick<LeaderboardSummary, 'winners'>;

type LeaderRow = LeaderboardSummary['winners'][number] & { period: string };

const ORDER: KeysetOrder<SummaryRow> = {
  name: 'leaderboards',
  direction: 'DESC',
  columns: [
    { sql: 'b.from_at', kind: 'time', keyOf: (row) => row.from_at.toISOString() },
    // After a change of SITE_TIME_ZONE, two days may begin at the same instant.
    { sql: 'b.period', kind: 'text', keyOf: (row) => row.period },
  ],
};

/** Maximum number of products listed as sharing the first rank. */
const MAX_WINNERS = 10;

/**
 * Lists the periods of one kind that have a launch, newest first, each with up to `MAX_WINNERS` products that share the
 * first rank. A launch without a counted vote does not win.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function listLeaderboards(
  sql: Sql,
  { kind = 'day', limit = LIMITS.pageSize.default, cursor = '' }: LeaderboardListQuery,
  rules: LeaderboardRules,
): Promise<LeaderboardList> {
  const { values, bind } = collectValues(kind);
  const after = cursor === '' ? '' : `AND ${afterCursor(ORDER, cursor, bind)}`;
  const rows = await readSummaries(sql, kind, { condition: `b.kind = $1 ${after}`, values, limit: limit + 1 });
  const { shown, nextCursor } = pageOf(ORDER, rows, limit);
  return { items: shown.map((row) => summaryOf(row, rules)), nextCursor };
}

interface SummaryCondition {
  /** A SQL condition on `leaderboards b`; `values` are its parameters. */
  condition: string;
  values: readonly unknown[];
  limit: number;
}

/**
 * Reads the periods of one kind that have a launch and meet a condition, newest first.
 * @throws CoreError `unavailable`.
 */
export async function readSummaries(
  sql: Sql,
  kind: PeriodKind,
  { condition, values, limit }: SummaryCondition,
): Promise<SummaryRow[]> {
  const rows = await sql.query<LeaderboardRow>(
    `SELECT ${LEADERBOARD_COLUMNS} FROM leaderboards b
     WHERE ${condition} AND EXISTS (SELECT FROM leaderboard_counts h WHERE h.period = b.period AND h.products > 0)
     ORDER BY ${orderBy(ORDER)} LIMIT ${limit}`,
    values,
  );
  const periods = rows.map((row) => row.period);
  const leaders = periods.length === 0 ? [] : await sql.query<LeaderRow>(selectLeaders(kind, periods.length), periods);
  return rows.map((row) => {
    const leading = leaders.filter(({ period }) => period === row.period);
    const winners = leading.filter(({ votes }) => votes === leading[0]?.votes);
    return { ...row, winners: winners.map(({ period: _period, ...winner }) => winner) };
  });
}

/**
 * SQL: the top launches of each of these periods, from the boards' indexes. Each period has its own subquery, because
 * Citus does not support LIMIT in LATERAL subqueries.
 */
function selectLeaders(kind: PeriodKind, periods: number): string {
  const leaders = Array.from(
    { length: periods },
    (_, index) => `(SELECT ${kind} AS period, product_id, votes, ${kind}_order AS tie_order FROM launches
      WHERE ${kind} = $${index + 1} AND votes > 0 ORDER BY (-votes), ${kind}_order LIMIT ${MAX_WINNERS})`,
  );
  return `SELECT l.period, l.product_id AS "productId", p.name, l.votes FROM (${leaders.join(' UNION ALL ')}) AS l
    JOIN products p ON p.id = l.product_id ORDER BY l.period, l.votes DESC, l.tie_order`;
}

const SELECT_ADDRESSES = `SELECT period, coalesce(revised_at, final_at) AS final_at FROM leaderboards b
  WHERE EXISTS (SELECT FROM leaderboard_counts h WHERE h.period = b.period AND h.products > 0)
  ORDER BY from_at DESC, kind LIMIT $1`;

/** A leaderboard with launches, for the sitemap. */
export interface BoardAddress {
  period: string;
  /** When the result became final or was last revised, in ISO 8601; unset while it is not final. */
  finalAt?: string;
}

/** Reads the newest leaderboards of all kinds that have a launch. @throws CoreError `unavailable`. */
export async function readBoardAddresses(sql: Sql, limit: number): Promise<BoardAddress[]> {
  const rows = await sql.query<{ period: string; final_at: Date | null }>(SELECT_ADDRESSES, [limit]);
  return rows.map(({ period, final_at }) => ({ period, ...(final_at && { finalAt: final_at.toISOString() }) }));
}

// A final day without launches is listed only if it had launches before, which a revision above 0 shows.
const SELECT_FINAL_DAYS = `SELECT period FROM leaderboards b
  WHERE kind = 'day' AND final_at IS NOT NULL
    AND (revision > 0 OR EXISTS (SELECT FROM leaderboard_counts h WHERE h.period = b.period AND h.products > 0))
  ORDER BY from_at DESC, period DESC LIMIT $1`;

/**
 * Reads the newest final days, including those whose launches were all removed afterwards.
 * @throws CoreError `unavailable`.
 */
export async function readFinalDays(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql.query<{ period: string }>(SELECT_FINAL_DAYS, [limit]);
  return rows.map((row) => row.period);
}

function summaryOf(row: SummaryRow, rules: LeaderboardRules): LeaderboardSummary {
  const period = parsePeriod(row.period);
  if (period === undefined) throw new RangeError(`'${row.period}' is not a period`);
  const { kind, from, to, status } = describePeriod(period, row, rules);
  return { period: row.period, kind, from, to, status, launches: row.launches, winners: row.winners };
}
