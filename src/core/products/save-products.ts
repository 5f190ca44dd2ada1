import { noteChange } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { foldText, searchTextOf } from '../search-text.ts';
import type { StoredProduct } from './complete-product.ts';
import type { ProductRow } from './product-row.ts';

const UPSERT_PRODUCTS = `WITH saved AS (
  INSERT INTO products (id, name, description, image, tags, category, maker, launch_date, team, screenshots, created_at,
    search_text, tag_keys)
  SELECT id, name, description, image, tags, category, maker, launch_date, team, screenshots, created_at, search_text, tag_keys
  FROM jsonb_to_recordset($1::jsonb) AS row (id text, name text, description text, image text, tags text[], category text,
    maker text, launch_date text, team jsonb, screenshots text[], created_at timestamptz, search_text text, tag_keys text[])
  ON CONFLICT (id) DO UPDATE SET
    name = EXCLUDED.name, description = EXCLUDED.description, image = EXCLUDED.image, tags = EXCLUDED.tags,
    category = EXCLUDED.category, maker = EXCLUDED.maker, launch_date = EXCLUDED.launch_date, team = EXCLUDED.team,
    screenshots = EXCLUDED.screenshots, created_at = EXCLUDED.created_at, search_text = EXCLUDED.search_text,
    tag_keys = EXCLUDED.tag_keys
  RETURNING id
)
INSERT INTO product_counts (product_id) SELECT id FROM saved ON CONFLICT (product_id) DO NOTHING`;

/** A row as the statement takes it: a column of `ProductRow` that is missing here, the compiler names. */
interface SavedRow extends Omit<ProductRow, 'created_at' | 'upvotes' | 'comments'> {
  created_at: string;
  search_text: string;
  tag_keys: string[];
}

/**
 * Writes products by id, new or not, in one statement; upvotes and comments stay. The ids must be distinct. Whoever calls
 * this notes the change, last in the transaction.
 */
export async function writeProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  const rows = products.map(
    (product): SavedRow => ({
      id: product.id,
      name: product.name,
      description: product.description,
      image: product.image,
      tags: product.tags,
      category: product.category,
      maker: product.maker,
      launch_date: product.launchDate,
      team: product.team,
      screenshots: product.screenshots,
      created_at: product.createdAt,
      search_text: searchTextOf(product),
      tag_keys: [...new Set(product.tags.map(foldText))],
    }),
  );
  await sql.query(UPSERT_PRODUCTS, [JSON.stringify(rows)]);
}

/** Writes products as `writeProducts` does, and notes the change. */
export async function saveProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  await writeProducts(sql, products);
  await noteChange(sql, { productIds: products.map((product) => product.id), catalogue: true });
}
