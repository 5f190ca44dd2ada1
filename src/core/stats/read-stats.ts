import { PUBLIC } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';
import { listUpvoteBursts, type NamedBurst } from './upvote-bursts.ts';

/** What happened on one day of UTC, counting what is there today: not what was taken back, removed, held or hidden. */
export interface DayStats {
  /** `2026-01-31`. */
  day: string;
  launches: number;
  upvotes: number;
  comments: number;
}

/** Upvotes of one product, in the whole time or in one hour. */
export interface ProductUpvotes {
  productId: string;
  productName: string;
  upvotes: number;
}

export interface SiteStats {
  /** Every day, the oldest first, today last. */
  days: DayStats[];
  /** Those that got the most upvotes in these days. */
  top: ProductUpvotes[];
  /** Hours (their beginning, ISO 8601, UTC) in which a product got far more upvotes than in its others. */
  hours: (ProductUpvotes & { hour: string })[];
  /** Networks from which many sessions upvoted one product within an hour. */
  networks: NamedBurst[];
}

const TOP_PRODUCTS = 10;
const MOST_BURSTS = 20;

/** What makes an hour worth a look: so many upvotes, and so many times the product's average hour of these days. */
const BUSY_HOUR = { upvotes: 50, timesAverage: 5 };

const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * The last days up to now, today included. One statement for each kind of row, each of which reads only the rows of these
 * days by an index, and blocks nobody.
 * @throws CoreError `unavailable`.
 */
export async function readStats(sql: Sql, { days, now }: { days: number; now: Date }): Promise<SiteStats> {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - (days - 1) * DAY_MS);
  const until = new Date(today + DAY_MS);
  const launches = await countByDay(sql, 'products', 'true', since, until);
  const comments = await countByDay(sql, 'comments', PUBLIC, since, until);
  const upvotes = await readUpvotes(sql, since, until, days);
  return {
    days: Array.from({ length: days }, (_, index) => {
      const day = new Date(since.getTime() + index * DAY_MS).toISOString().slice(0, 10);
      const of = (counts: ReadonlyMap<string, number>) => counts.get(day) ?? 0;
      return { day, launches: of(launches), upvotes: of(upvotes.byDay), comments: of(comments) };
    }),
    top: upvotes.top,
    hours: upvotes.hours,
    networks: await listUpvoteBursts(sql, { since, limit: MOST_BURSTS }),
  };
}

async function countByDay(
  sql: Sql,
  table: 'products' | 'comments',
  condition: string,
  since: Date,
  until: Date,
): Promise<Map<string, number>> {
  const rows = await sql.query<{ day: string; rows: number }>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::integer AS rows FROM ${table}
     WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz AND ${condition} GROUP BY 1`,
    [since.toISOString(), until.toISOString()],
  );
  return new Map(rows.map((row) => [row.day, row.rows]));
}

// The rows are read once; what is told of them is made of their counts by product and hour.
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
    ORDER BY hourly.upvotes DESC, hourly.hour DESC, product_id LIMIT ${MOST_BURSTS}
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

async function readUpvotes(sql: Sql, since: Date, until: Date, days: number) {
  const rows = await sql.query<UpvoteRow>(SELECT_UPVOTES, [since.toISOString(), until.toISOString(), days * 24]);
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
