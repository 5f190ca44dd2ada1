import type { Sql } from '../database/database.ts';

/** The numbers of products with tags according to the planner's statistics, so no statement has to count them. */
export interface TagStatistics {
  products: number;
  /** Returns the share of products with this tag, from 0 to 1. It is an estimate if the tag is not among the most common. */
  shareOf(tag: string): number;
}

/** Returns no row before the first ANALYZE, under row-level security, and on Citus, whose coordinator has no statistics. */
const SELECT_STATISTICS = `SELECT c.reltuples::float8 AS products,
    to_json(s.most_common_elems::text::text[]) AS tags, to_json(s.most_common_elem_freqs) AS shares
  FROM pg_stats s JOIN pg_class c ON c.oid = to_regclass('products')
  WHERE s.schemaname = current_schema() AND s.tablename = 'products' AND s.attname = 'tag_keys' AND c.reltuples > 0`;

/** How long statistics are reused. */
const MAX_AGE_MS = 60_000;

const remembered = new WeakMap<Sql, { statistics: Promise<TagStatistics | undefined>; until: number }>();

/** Returns the statistics, read once a minute, or undefined if there are none. @throws CoreError `unavailable`. */
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
  // After the shares of the tags comes the smallest share. Like the planner, this assumes half of it for unlisted tags.
  const others = Math.max((shares?.[known.size] ?? 0) / 2, 1 / products);
  return { products, shareOf: (tag) => known.get(tag) ?? others };
}
