import type { PeriodKind } from '../../src/contract/leaderboards/period.ts';
import { writeListCursor } from '../../src/contract/products/list-cursor.ts';
import type { ProductSort } from '../../src/contract/products/schema.ts';
import type { Database } from '../../src/core/database/database.ts';
import { cursorOfKeys } from '../../src/core/keyset.ts';
import { PRODUCT_ORDERS } from '../../src/core/products/product-row.ts';

/** A database of one size, with samples of its content for the requests. */
export interface Side {
  database: Database;
  products: number;
  /** Ids of randomly selected products. */
  ids: string[];
  /** The id of the product with the most comments. */
  hottest: string;
  sessions: string[];
  /** Words of product names that at most 1 in 2,000 products contain, or only one product in a small database. */
  rareWords: string[];
  /** Words of product names that more products contain. */
  mediumWords: string[];
  /** The periods of the leaderboards by kind, those with the most launches first. */
  periods: Record<PeriodKind, string[]>;
  cursorAt(sort: ProductSort, pages: number): Promise<string>;
}

const SAMPLE = 500;
const PAGE = 30;
const WORDS = 120;
const RARE_SHARE = 1 / 2_000;

export async function openSide(database: Database, products: number): Promise<Side> {
  const sampled = await database.query<{ id: string; word: string }>(
    `SELECT id, lower(split_part(id, '-', 1)) AS word FROM products ORDER BY md5(id) LIMIT ${SAMPLE}`,
  );
  const [hottest] = await database.query<{ product_id: string }>(
    'SELECT product_id FROM product_counts ORDER BY comments DESC, product_id DESC LIMIT 1',
  );
  const sessions = await database.query<{ user_session: string }>(
    `SELECT user_session FROM upvotes WHERE product_id = ANY($1::text[]) LIMIT ${SAMPLE}`,
    [sampled.map(({ id }) => id)],
  );
  const words = await wordsOf(database, products);
  return {
    database,
    products,
    ids: sampled.map(({ id }) => id),
    hottest: hottest?.product_id ?? '',
    sessions: sessions.map((row) => row.user_session),
    rareWords: words.rare,
    mediumWords: words.medium,
    periods: await periodsOf(database),
    cursorAt: (sort, pages) => cursorAt(database, sort, Math.min(Math.round(pages * PAGE), products - PAGE - 1)),
  };
}

/** Returns words of product names, classified by the number of products that contain them. */
async function wordsOf(database: Database, products: number): Promise<{ rare: string[]; medium: string[] }> {
  const rows = await database.query<{ word: string; found: number }>(
    `SELECT word, (SELECT count(*)::integer FROM products WHERE search_text LIKE '%' || word || '%') AS found
     FROM (SELECT DISTINCT lower(split_part(name, ' ', 1)) AS word FROM products
       WHERE id IN (SELECT id FROM products WHERE name ~ '^[A-Za-z]{6,}' ORDER BY md5(id) LIMIT ${WORDS})) AS words`,
  );
  const mostRare = Math.max(1, products * RARE_SHARE);
  const words = (kept: (found: number) => boolean) => rows.filter(({ found }) => kept(found)).map(({ word }) => word);
  return { rare: words((found) => found <= mostRare), medium: words((found) => found > mostRare) };
}

async function periodsOf(database: Database): Promise<Record<PeriodKind, string[]>> {
  const rows = await database.query<{ kind: PeriodKind; period: string }>(
    `SELECT kind, period FROM leaderboards JOIN leaderboard_counts USING (period)
     GROUP BY kind, period ORDER BY sum(products) DESC, period`,
  );
  const named = (kind: PeriodKind) => rows.filter((row) => row.kind === kind).map(({ period }) => period);
  return { day: named('day'), week: named('week'), month: named('month'), year: named('year') };
}

const KEYS: Record<ProductSort, string> = {
  newest: `SELECT created_at AS key, id FROM products ORDER BY created_at DESC, id DESC`,
  top: `SELECT upvotes AS key, product_id AS id FROM product_counts ORDER BY upvotes DESC, product_id DESC`,
  discussed: `SELECT comments AS key, product_id AS id FROM product_counts ORDER BY comments DESC, product_id DESC`,
};

async function cursorAt(database: Database, sort: ProductSort, offset: number): Promise<string> {
  if (offset <= 0) return '';
  const [row] = await database.query<{ key: Date | number; id: string }>(`${KEYS[sort]} LIMIT 1 OFFSET ${offset}`);
  if (row === undefined) throw new Error(`There is no product ${offset} in the list`);
  const keys = [row.key instanceof Date ? row.key.toISOString() : row.key, row.id];
  return writeListCursor(cursorOfKeys(PRODUCT_ORDERS[sort], keys), offset);
}
