import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { RelatedProduct, RelatedProducts } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { memoize } from '../memoize.ts';
import { foldText } from '../search-text.ts';

/**
 * How many of the newest products are compared regardless of their tags. On smaller sites, all products are compared.
 */
const WINDOW_ROWS = 1_000;
/** The maximum number of products that are looked up by rare tags. */
const MAX_FOUND_ROWS = 300;

/**
 * SQL: the number of products in `read`, and those that have one of the `tags`, as JSON, because the driver parses arrays
 * slowly.
 */
const sharing = (tags: string) => `count(*)::integer AS rows,
    json_agg(json_build_array(id, tag_keys)) FILTER (WHERE tag_keys && ${tags}) AS sharing FROM read`;

/** The tags of the product, with the newest products; no products are read if it has no tags or is unknown. */
const SELECT_NEWEST = `WITH wanted AS MATERIALIZED (
    SELECT tag_keys AS tags FROM products WHERE id = $1 AND created_at <= $2::timestamptz
  ), read AS (
    SELECT p.id, p.tag_keys FROM products p WHERE p.created_at <= $2::timestamptz AND (SELECT tags FROM wanted) <> '{}'
    ORDER BY p.created_at DESC, p.id DESC LIMIT ${WINDOW_ROWS}
  ) SELECT (SELECT to_json(tags) FROM wanted) AS tags, ${sharing('(SELECT tags FROM wanted)')}`;

// The limit and the time are outside the first query, so the planner uses the index of tags. With the limit, it would
// not expect to read all matches. With the time, a generic plan would expect a third of all products to match, and read
// that third from the index of times.
const SELECT_TAGGED = `WITH tagged AS MATERIALIZED (
    SELECT p.id, p.tag_keys, p.created_at FROM products p WHERE p.tag_keys && $3::text[]
  ), read AS (
    SELECT id, tag_keys FROM tagged WHERE created_at <= $2::timestamptz LIMIT ${MAX_FOUND_ROWS + 1}
  ) SELECT ${sharing('$1::text[]')}`;

const SELECT_BEST = `SELECT p.id, p.name, p.image, p.tags
  FROM (
    SELECT c.product_id, candidate.level, c.upvotes
    FROM unnest($1::text[], $2::integer[]) AS candidate (id, level) JOIN product_counts c ON c.product_id = candidate.id
    ORDER BY candidate.level, c.upvotes DESC, c.product_id LIMIT ${LIMITS.relatedProducts}
  ) AS best JOIN products p ON p.id = best.product_id
  WHERE p.created_at <= $3::timestamptz ORDER BY best.level, best.upvotes DESC, p.id`;

/**
 * Lists the products whose shared tags have the greatest sum of weights. A tag weighs more if fewer products have it
 * (inverse document frequency). Products with equal sums are ordered by upvotes, then by id. The cost does not grow
 * with the table (decision 27).
 * @returns null if the product is unknown or has not launched by `now`.
 * @throws CoreError `unavailable`.
 */
export async function getRelatedProducts(
  sql: Sql,
  id: string,
  now: Date,
  primary: Sql = sql,
): Promise<RelatedProducts | null> {
  const time = now.toISOString();
  const newest = isProductId(id)
    ? await sql.query<SharingRow & { tags: string[] | null }>(SELECT_NEWEST, [id, time], { isPrepared: true })
    : [];
  const tags = newest[0]?.tags ?? null;
  if (tags === null) return null;
  if (tags.length === 0) return { items: [] };
  const shared: SharedTags = new Map();
  const rows = addSharing(shared, tags, newest);
  const statistics = rows < WINDOW_ROWS ? undefined : await tagStatisticsOf(primary);
  const rare = statistics === undefined ? [] : await addRare(sql, shared, { tags, time, statistics });
  const counts = countTags(shared);
  const shareOf = (tag: string) => {
    const count = counts.get(tag) ?? 1;
    if (statistics === undefined) return count / rows;
    return rare.includes(tag) ? count / statistics.products : statistics.shareOf(tag);
  };
  const weights = new Map(tags.map((tag) => [tag, weightOf(shareOf(tag))]));
  shared.delete(id);
  return { items: await readBest(sql, levelsOf(shared, weights), { weights, time }) };
}

/** The tags that products share with the product of the page, by id. */
type SharedTags = Map<string, readonly string[]>;

interface SharingRow {
  rows: number;
  sharing: [id: string, tags: string[]][] | null;
}

/**
 * Adds the products in the result of a statement to `shared`.
 * @returns the number of products read, including those that share no tag.
 */
function addSharing(shared: SharedTags, tags: readonly string[], [result]: readonly SharingRow[]): number {
  for (const [id, all] of result?.sharing ?? []) {
    shared.set(
      id,
      all.filter((tag) => tags.includes(tag)),
    );
  }
  return result?.rows ?? 0;
}

function countTags(shared: SharedTags): Map<string, number> {
  const counts = new Map<string, number>();
  for (const tag of [...shared.values()].flat()) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return counts;
}

/**
 * Returns the weight of a tag that this share of products has. It is positive even for a tag that all products have.
 */
export function weightOf(share: number): number {
  return Math.log(1 + 1 / share);
}

/** Groups ids by their sums of weights, greatest first. @returns only as many groups as are needed to fill the list. */
export function levelsOf(
  shared: ReadonlyMap<string, readonly string[]>,
  weights: ReadonlyMap<string, number>,
): string[][] {
  const levels = new Map<number, string[]>();
  for (const [id, tags] of shared) {
    // Sums are rounded, because the order of the summands affects the last digits.
    const sum = Math.round(1e6 * tags.reduce((weight, tag) => weight + (weights.get(tag) ?? 0), 0));
    const level = levels.get(sum);
    if (level) level.push(id);
    else levels.set(sum, [id]);
  }
  const sorted = [...levels].sort(([one], [other]) => other - one).map(([, ids]) => ids);
  let found = 0;
  return sorted.filter((ids) => {
    const isWanted = found < LIMITS.relatedProducts;
    found += ids.length;
    return isWanted;
  });
}

/**
 * Adds all products that have one of the rarest tags. Uses as many tags as the statistics permit without exceeding the
 * maximum number of products, and fewer if too many products match nevertheless.
 * @returns the tags that were used.
 */
async function addRare(
  sql: Sql,
  shared: SharedTags,
  { tags, time, statistics }: { tags: readonly string[]; time: string; statistics: TagStatistics },
): Promise<string[]> {
  let left = MAX_FOUND_ROWS;
  let rare = tags
    .toSorted((one, other) => statistics.shareOf(one) - statistics.shareOf(other))
    .filter((tag) => {
      left -= statistics.shareOf(tag) * statistics.products;
      return left >= 0;
    });
  while (rare.length > 0) {
    const found = await sql.query<SharingRow>(SELECT_TAGGED, [tags, time, rare], { isPrepared: true });
    if ((found[0]?.rows ?? 0) <= MAX_FOUND_ROWS) {
      addSharing(shared, tags, found);
      break;
    }
    // If too many products match, fewer tags are used, because a subset of the matching products would be arbitrary.
    rare = rare.slice(0, Math.floor(rare.length / 2));
  }
  return rare;
}

type RelatedRow = Omit<RelatedProduct, 'sharedTags'> & { tags: string[] };

async function readBest(
  sql: Sql,
  levels: readonly (readonly string[])[],
  { weights, time }: { weights: ReadonlyMap<string, number>; time: string },
): Promise<RelatedProduct[]> {
  if (levels.length === 0) return [];
  const numbers = levels.flatMap((ids, level) => ids.map(() => level));
  const best = await sql.query<RelatedRow>(SELECT_BEST, [levels.flat(), numbers, time], { isPrepared: true });
  const weight = (tag: string) => weights.get(foldText(tag)) ?? 0;
  return best.map(({ id, name, image, tags }) => {
    const shared = [...new Set(tags)].filter((tag) => weights.has(foldText(tag)));
    return { id, name, image, sharedTags: shared.sort((one, other) => weight(other) - weight(one)) };
  });
}

/** The planner's statistics of how many products have a tag, so no statement has to count them. */
interface TagStatistics {
  products: number;
  /**
   * Returns the share of products with this tag, from 0 to 1. It is an estimate if the tag is not among the most
   * common.
   */
  shareOf(tag: string): number;
}

/**
 * Returns no row before the first ANALYZE, under row-level security, and on Citus, whose coordinator lacks statistics.
 */
const SELECT_STATISTICS = `SELECT c.reltuples::float8 AS products,
    to_json(s.most_common_elems::text::text[]) AS tags, to_json(s.most_common_elem_freqs) AS shares
  FROM pg_stats s JOIN pg_class c ON c.oid = to_regclass('products')
  WHERE s.schemaname = current_schema() AND s.tablename = 'products' AND s.attname = 'tag_keys' AND c.reltuples > 0`;

/** How long statistics are reused. */
const MAX_AGE_MS = 60_000;

/** Returns statistics at most a minute old, or undefined if there are none. @throws CoreError `unavailable`. */
const tagStatisticsOf = memoize(readStatistics, MAX_AGE_MS);

async function readStatistics(sql: Sql): Promise<TagStatistics | undefined> {
  type Row = { products: number; tags: string[] | null; shares: number[] | null };
  const [row] = await sql.query<Row>(SELECT_STATISTICS);
  if (row === undefined) return undefined;
  const { products, tags, shares } = row;
  const known = new Map(tags?.map((tag, index) => [tag, shares?.[index] ?? 0]));
  // The array of shares ends with further numbers, of which the first is the smallest share. Like the planner, this
  // assumes half of the smallest share for unlisted tags.
  const others = Math.max((shares?.[known.size] ?? 0) / 2, 1 / products);
  return { products, shareOf: (tag) => known.get(tag) ?? others };
}
