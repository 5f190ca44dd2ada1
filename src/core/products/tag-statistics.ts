import type { Sql } from '../database/database.ts';

/** How many products have a tag, by the planner's statistics, so no statement has to count them. */
export interface TagStatistics {
  products: number;
  /** The share of products with this tag, from 0 to 1; of a tag beyond the most common ones, an estimate. */
  shareOf(tag: string): number;
}

/** No row before the first ANALYZE, under row-level security, and on Citus, whose coordinator has no statistics. */
const SELECT_STATISTICS = `SELECT c.reltuples::float8 AS products,
    to_json(s.most_common_elems::text::text[]) AS tags, to_json(s.most_common_elem_freqs) AS shares
  FROM pg_stats s JOIN pg_class c ON c.oid = to_regclass('products')
  WHERE s.schemaname = current_schema() AND s.tablename = 'products' AND s.attname = 'tag_keys' AND c.reltuples > 0`;

/** How long statistics are reused. */
const MAX_AGE_MS = 60_000;

const remembered = new WeakMap<Sql, { statistics: Promise<TagStatistics | undefined>; until: number }>();

/** The statistics, read once a minute. @throws CoreError `unavailable`. */
export function tagStatisticsOf(sql: Sql): Promise<TagStatistics | undefined> {
  const last = remembered.get(sql);
  if (last && performance.now() < last.until) return last.statistics;
  const statistics = readStatistics(sql);
  remembered.set(sql, { statistics, until: performance.now() + MAX_AGE_MS });
  // The next request tries again.
  statistics.catch(() => remembered.delete(sql));
  return statistics;
}

async function readStatistics(sql: Sql): Promise<TagStatistics | undefined> {
  type Row = { products: number; tags: string[] | null; shares: number[] | null };
  const [row] = await sql.query<Row>(SELECT_STATISTICS);
  if (row === undefined) return undefined;
  const { products, tags, shares } = row;
  const known = new Map(tags?.map((tag, index) => [tag, shares?.[index] ?? 0]));
  // The tags' shares are followed by the smallest of them. The planner, too, assumes half of it for a tag that is not listed.
  const others = Math.max((shares?.[known.size] ?? 0) / 2, 1 / products);
  return { products, shareOf: (tag) => known.get(tag) ?? others };
}
