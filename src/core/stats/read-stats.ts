import type { ActivityRecord, BurstRecord, OverviewRecord } from '../../contract/console/records.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';
import { findDueDays } from '../leaderboards/finalize.ts';
import type { LeaderboardRules } from '../leaderboards/get-leaderboard.ts';
import { DAY_MS, HOUR_MS } from '../runtime.ts';
import { readSubmissionStats, type SubmissionStats } from '../submissions/list-submissions.ts';
import { listUpvoteBursts } from './upvote-bursts.ts';

/** The numbers of one day (UTC). Withdrawn, removed, held and hidden rows are not counted. */
export interface DayStats {
  /** The day, such as `2026-01-31`. */
  day: string;
  launches: number;
  upvotes: number;
  comments: number;
}

/** The upvotes of one product in the whole period or in one hour. */
interface ProductUpvotes {
  productId: string;
  productName: string;
  upvotes: number;
}

export interface SiteStats {
  /** All days, oldest first, including today. */
  days: DayStats[];
  /** The products with the most upvotes in these days. */
  top: ProductUpvotes[];
  /** Hours in which a product got far more upvotes than on average. `hour` is the start (ISO 8601, UTC). */
  hours: (ProductUpvotes & { hour: string })[];
  /** Networks from which many sessions upvoted one product within a clock hour. */
  networks: BurstRecord[];
  /** The numbers of submissions that were received on these days, by status. */
  submissions: SubmissionStats;
}

const TOP_PRODUCTS = 10;
const MAX_BURSTS = 20;

/** A busy hour has at least this many upvotes, and at least this multiple of the product's average per hour. */
const BUSY_HOUR = { upvotes: 50, timesAverage: 5 };

/**
 * Reads the statistics of the last `days` days, including today, with one statement per kind of row. Each statement
 * uses an index on the time, if the database has one, and does not block writers.
 * @throws CoreError `unavailable`.
 */
export async function readStats(sql: Sql, { days, now }: { days: number; now: Date }): Promise<SiteStats> {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - (days - 1) * DAY_MS);
  const until = new Date(today + DAY_MS);
  const launches = await countBy(sql, 'day', 'products', UP_TO, [since, now]);
  const comments = await countBy(sql, 'day', 'comments', `${BEFORE} AND ${PUBLIC}`, [since, until]);
  const elapsedHours = Math.max(1, (now.getTime() - since.getTime()) / HOUR_MS);
  const upvotes = await readUpvotes(sql, since, until, elapsedHours);
  return {
    days: Array.from({ length: days }, (_, index) => {
      const start = since.getTime() + index * DAY_MS;
      const day = new Date(start).toISOString().slice(0, 10);
      return {
        day,
        launches: launches.get(start) ?? 0,
        upvotes: upvotes.byDay.get(day) ?? 0,
        comments: comments.get(start) ?? 0,
      };
    }),
    top: upvotes.top,
    hours: upvotes.hours,
    networks: await listUpvoteBursts(sql, { since, limit: MAX_BURSTS }),
    submissions: await readSubmissionStats(sql, since, until),
  };
}

/** Conditions on the time of a row: from `$1` to `$2`, which only `UP_TO` includes. */
const UP_TO = 'created_at >= $1::timestamptz AND created_at <= $2::timestamptz';
const BEFORE = 'created_at >= $1::timestamptz AND created_at < $2::timestamptz';

/**
 * Counts the rows of each day or hour (UTC). @returns the counts by the start of the day or hour, in milliseconds since
 * 1970.
 */
async function countBy(
  sql: Sql,
  unit: 'day' | 'hour',
  table: 'products' | 'upvotes' | 'comments',
  condition: string,
  times: readonly [Date, Date],
): Promise<Map<number, number>> {
  const rows = await sql.query<{ start: Date; rows: number }>(
    `SELECT date_trunc('${unit}', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS start, count(*)::integer AS rows
     FROM ${table} WHERE ${condition} GROUP BY 1`,
    times.map((time) => time.toISOString()),
  );
  return new Map(rows.map(({ start, rows: count }) => [start.getTime(), count]));
}

// Reads the rows once. All results are derived from their counts by product and hour.
const SELECT_UPVOTES = `WITH hourly AS MATERIALIZED (
    SELECT product_id, date_trunc('hour', created_at AT TIME ZONE 'UTC') AS hour, count(*)::integer AS upvotes
    FROM upvotes WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz GROUP BY 1, 2
  ), totals AS MATERIALIZED (
    SELECT product_id, sum(upvotes)::integer AS upvotes FROM hourly GROUP BY 1
  ), top AS (
    SELECT product_id, upvotes FROM totals ORDER BY upvotes DESC, product_id LIMIT ${TOP_PRODUCTS}
  ), busy AS (
    SELECT product_id, hourly.hour, hourly.upvotes FROM hourly JOIN totals USING (product_id)
    WHERE hourly.upvotes >= ${BUSY_HOUR.upvotes} AND hourly.upvotes >= ${BUSY_HOUR.timesAverage} * totals.upvotes / $3::float8
    ORDER BY hourly.upvotes DESC, hourly.hour DESC, product_id LIMIT ${MAX_BURSTS}
  )
  SELECT 'day' AS kind, to_char(hour, 'YYYY-MM-DD') AS at, NULL AS id, NULL AS name, sum(upvotes)::integer AS upvotes
  FROM hourly GROUP BY 2
  UNION ALL
  SELECT 'top', NULL, p.id, p.name, top.upvotes FROM top JOIN products p ON p.id = top.product_id
  UNION ALL
  SELECT 'hour', to_char(busy.hour, 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'), p.id, p.name, busy.upvotes
  FROM busy JOIN products p ON p.id = busy.product_id`;

type UpvoteRow =
  | { kind: 'day'; at: string; id: null; name: null; upvotes: number }
  | { kind: 'top'; at: null; id: string; name: string; upvotes: number }
  | { kind: 'hour'; at: string; id: string; name: string; upvotes: number };

async function readUpvotes(sql: Sql, since: Date, until: Date, elapsedHours: number) {
  const rows = await sql.query<UpvoteRow>(SELECT_UPVOTES, [since.toISOString(), until.toISOString(), elapsedHours]);
  const byDay = new Map<string, number>();
  const top: ProductUpvotes[] = [];
  const hours: SiteStats['hours'] = [];
  for (const { kind, at, id, name, upvotes } of rows) {
    if (kind === 'day') byDay.set(at, upvotes);
    else if (kind === 'top') top.push({ productId: id, productName: name, upvotes });
    else hours.push({ hour: at, productId: id, productName: name, upvotes });
  }
  const byUpvotes = (one: ProductUpvotes, other: ProductUpvotes) => other.upvotes - one.upvotes;
  return { byDay, top: top.sort(byUpvotes), hours: hours.sort(byUpvotes) };
}

/** The table whose rows are counted for each number, and the condition on these rows. */
const COUNTED = {
  launches: ['products', 'true'],
  upvotes: ['upvotes', 'true'],
  comments: ['comments', PUBLIC],
} as const;

export type Activity = Pick<OverviewRecord, 'days' | 'hours'>;

/**
 * Counts launches, upvotes and public comments by day (the last `days` days) and by hour (the last `hours` hours).
 * Reads all rows of these days, which is the slowest part of the console's overview on a large site.
 * @throws CoreError `unavailable`.
 */
export async function readActivity(
  sql: Sql,
  { days, hours, now }: { days: number; hours: number; now: Date },
): Promise<Activity> {
  const lastHour = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const since = today - (days - 1) * DAY_MS;
  const counts = await Promise.all(
    Object.values(COUNTED).map(([table, condition]) =>
      countBy(sql, 'hour', table, `${UP_TO} AND ${condition}`, [new Date(since), now]),
    ),
  );
  const byHour = Array.from({ length: (lastHour - since) / HOUR_MS + 1 }, (_, index) => {
    const hour = since + index * HOUR_MS;
    const [launches = 0, upvotes = 0, comments = 0] = counts.map((each) => each.get(hour) ?? 0);
    return { from: new Date(hour).toISOString(), launches, upvotes, comments };
  });
  return {
    days: Array.from({ length: days }, (_, index) => sumOf(byHour.slice(index * 24, (index + 1) * 24))),
    hours: byHour.slice(-hours),
  };
}

function sumOf(hours: readonly ActivityRecord[]): ActivityRecord {
  const sum = (key: keyof typeof COUNTED) => hours.reduce((total, hour) => total + hour[key], 0);
  const from = hours[0]?.from.slice(0, 10) ?? '';
  return { from, launches: sum('launches'), upvotes: sum('upvotes'), comments: sum('comments') };
}

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
