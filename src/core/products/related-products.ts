import { isProductId } from '../../contract/products/fields.ts';
import type { RelatedProduct, RelatedProducts } from '../../contract/products/schema.ts';
import type { Change } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { memoize } from '../memoize.ts';
import type { Runtime } from '../runtime.ts';
import { foldText } from '../search-text.ts';

const MAX_RELATED = 6;
/**
 * How many of the newest products are compared regardless of their tags. On smaller sites, all products are compared.
 */
const WINDOW_ROWS = 1_000;
/** The maximum number of products that are looked up by rare tags. */
const MAX_FOUND_ROWS = 300;

// The driver parses arrays slowly, so the products of a statement are one JSON value.
const AS_JSON = 'json_agg(json_build_array(id, tag_keys)) AS products';

const SELECT_NEWEST = `SELECT ${AS_JSON} FROM (
    SELECT p.id, p.tag_keys FROM products p WHERE p.created_at <= $1::timestamptz
    ORDER BY p.created_at DESC, p.id DESC LIMIT ${WINDOW_ROWS}
  ) AS newest`;

const SELECT_TAGS = 'SELECT to_json(tag_keys) AS tags FROM products WHERE id = $1 AND created_at <= $2::timestamptz';

// The CTE contains neither the limit nor the time, so the planner uses the index of tags. With the limit, the planner
// would not expect to read all matches. With the time, a generic plan would expect a third of all products to match,
// and read that third from the index of times.
const SELECT_TAGGED = `WITH tagged AS MATERIALIZED (
    SELECT p.id, p.tag_keys, p.created_at FROM products p WHERE p.tag_keys && $1::text[]
  ) SELECT ${AS_JSON} FROM (
    SELECT id, tag_keys FROM tagged WHERE created_at <= $2::timestamptz LIMIT ${MAX_FOUND_ROWS + 1}
  ) AS found`;

const SELECT_BEST = `SELECT p.id, p.name, p.image, to_json(p.tags) AS tags
  FROM (
    SELECT c.product_id, candidate.level, c.upvotes
    FROM (SELECT * FROM unnest($1::text[], $2::integer[]) AS u (id, level)) AS candidate
      JOIN product_counts c ON c.product_id = candidate.id
    ORDER BY candidate.level, c.upvotes DESC, c.product_id LIMIT ${MAX_RELATED}
  ) AS best JOIN products p ON p.id = best.product_id
  WHERE p.created_at <= $3::timestamptz ORDER BY best.level, best.upvotes DESC, p.id`;

type TaggedProduct = [id: string, tags: string[]];

interface ProductsRow {
  products: TaggedProduct[] | null;
}

/** The newest products, regardless of their tags. */
interface NewestProducts {
  count: number;
  tagsOf: ReadonlyMap<string, readonly string[]>;
  idsByTag: ReadonlyMap<string, readonly string[]>;
}

async function readNewestProducts(sql: Sql, now: Date): Promise<NewestProducts> {
  const [row] = await sql.query<ProductsRow>(SELECT_NEWEST, [now.toISOString()], { isPrepared: true });
  const products = row?.products ?? [];
  const idsByTag = new Map<string, string[]>();
  for (const [id, tags] of products) for (const tag of tags) listUnder(idsByTag, tag, id);
  return { count: products.length, tagsOf: new Map(products), idsByTag };
}

function listUnder<Key>(lists: Map<Key, string[]>, key: Key, item: string): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** How long the newest products and the statistics are reused. */
const MAX_AGE_MS = 60_000;

/**
 * Caches the newest products until the catalogue changes, for at most a minute. Must be subscribed to the changes of
 * the site.
 */
export interface NewestProductsCache {
  /** @throws CoreError `unavailable`. */
  read(): Promise<NewestProducts>;
  onChange(change: Change): void;
  onGap(): void;
}

export function cacheNewestProducts(sql: Sql, { now, monotonicMs }: Runtime): NewestProductsCache {
  const begin = () => memoize((from: Sql) => readNewestProducts(from, now()), MAX_AGE_MS, monotonicMs);
  let read = begin();
  return {
    read: () => read(sql),
    onChange({ catalogue }) {
      if (catalogue) read = begin();
    },
    onGap() {
      read = begin();
    },
  };
}

interface RelatedOptions {
  /** If unset, the newest products are read from the database each time. */
  newest?: NewestProductsCache | undefined;
  /** The database that has the planner's statistics. */
  primary?: Sql;
}

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
  { newest: cache, primary = sql }: RelatedOptions = {},
): Promise<RelatedProducts | null> {
  if (!isProductId(id)) return null;
  const time = now.toISOString();
  const newest = await (cache ? cache.read() : readNewestProducts(sql, now));
  const tags = newest.tagsOf.get(id) ?? (await readTags(sql, id, time));
  if (tags === undefined) return null;
  if (tags.length === 0) return { items: [] };
  const shared: SharedTags = new Map();
  for (const tag of tags) for (const other of newest.idsByTag.get(tag) ?? []) listUnder(shared, other, tag);
  const statistics = newest.count < WINDOW_ROWS ? undefined : await tagStatisticsOf(primary);
  const rare = statistics === undefined ? [] : await addRare(sql, shared, { tags, time, statistics });
  const shareOf = (tag: string) => {
    if (statistics !== undefined && !rare.includes(tag)) return statistics.shareOf(tag);
    const count = [...shared.values()].filter((all) => all.includes(tag)).length;
    return Math.max(count, 1) / (statistics?.products ?? newest.count);
  };
  const weights = new Map(tags.map((tag) => [tag, weightOf(shareOf(tag))]));
  shared.delete(id);
  return { items: await readBest(sql, groupByWeight(shared, weights), { weights, time }) };
}

/** The tags that products share with the product of the page, by id. */
type SharedTags = Map<string, string[]>;

async function readTags(sql: Sql, id: string, time: string): Promise<string[] | undefined> {
  const [row] = await sql.query<{ tags: string[] }>(SELECT_TAGS, [id, time], { isPrepared: true });
  return row?.tags;
}

/**
 * Returns the weight of a tag that this share of products has. It is positive even for a tag that all products have.
 */
export function weightOf(share: number): number {
  return Math.log(1 + 1 / share);
}

/** Groups ids by their sums of weights, greatest first. @returns only as many groups as are needed to fill the list. */
export function groupByWeight(
  shared: ReadonlyMap<string, readonly string[]>,
  weights: ReadonlyMap<string, number>,
): string[][] {
  const levels = new Map<number, string[]>();
  for (const [id, tags] of shared) {
    // Sums are rounded, because the order of the summands affects the last digits.
    const sum = Math.round(1e6 * tags.reduce((weight, tag) => weight + (weights.get(tag) ?? 0), 0));
    listUnder(levels, sum, id);
  }
  const sorted = [...levels].sort(([one], [other]) => other - one).map(([, ids]) => ids);
  let found = 0;
  return sorted.filter((ids) => {
    const isWanted = found < MAX_RELATED;
    found += ids.length;
    return isWanted;
  });
}

/**
 * Adds all products that have one of the rarest tags. Uses as many tags as the statistics permit without exceeding the
 * maximum number of products, and fewer if more products match than expected.
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
    const [row] = await sql.query<ProductsRow>(SELECT_TAGGED, [rare, time], { isPrepared: true });
    const found = row?.products ?? [];
    if (found.length <= MAX_FOUND_ROWS) {
      for (const [id, all] of found) {
        shared.set(
          id,
          all.filter((tag) => tags.includes(tag)),
        );
      }
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

/** Returns statistics at most a minute old, or undefined if there are none. @throws CoreError `unavailable`. */
const tagStatisticsOf = memoize(readStatistics, MAX_AGE_MS);

async function readStatistics(sql: Sql): Promise<TagStatistics | undefined> {
  type Row = { products: number; tags: string[] | null; shares: number[] | null };
  const [row] = await sql.query<Row>(SELECT_STATISTICS);
  if (row === undefined) return undefined;
  const { products, tags, shares } = row;
  const known = new Map(tags?.map((tag, index) => [tag, shares?.[index] ?? 0]));
  // The array of shares ends with further numbers, of which the first is the smallest share. Like the planner, this
  // code assumes half of the smallest share for unlisted tags.
  const others = Math.max((shares?.[known.size] ?? 0) / 2, 1 / products);
  return { products, shareOf: (tag) => known.get(tag) ?? others };
}
