import type { ProductSort } from '../../src/contract/products/schema.ts';
import type { Database } from '../../src/core/database/database.ts';
import { searchGramsOf } from '../../src/core/products/search-grams.ts';
import { foldText, searchTextOf } from '../../src/core/search-text.ts';

/** The fields of a product that lists and searches use. */
export interface ListedProduct {
  id: string;
  name: string;
  description: string;
  tags: string[];
  created_at: string;
  upvotes: number;
  comments: number;
}

/** Builds products, the oldest of which is `p-00001`. Many have equal times and counts, so pages end within ties. */
export function makeProducts(count: number, about: (n: number) => { description: string; tags: string[] }) {
  return Array.from({ length: count }, (_, index): ListedProduct => {
    const n = index + 1;
    return {
      id: `p-${String(n).padStart(5, '0')}`,
      name: `Product ${n}`,
      ...about(n),
      created_at: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(n / 7))).toISOString(),
      upvotes: n % 5,
      comments: n % 4,
    };
  });
}

/** Inserts products and their counts, with two statements. */
export async function storeProducts(database: Database, products: readonly ListedProduct[]): Promise<void> {
  const rows = products.map((product) => ({
    ...product,
    search_text: searchTextOf(product),
    tag_keys: product.tags.map(foldText),
    search_grams: searchGramsOf(searchTextOf(product)),
  }));
  await database.query(
    `INSERT INTO products (id, name, description, tags, created_at, search_text, tag_keys, search_grams)
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS row (id text, name text, description text, tags text[],
       created_at timestamptz, search_text text, tag_keys text[],
       search_grams integer[])`,
    [JSON.stringify(rows)],
  );
  await database.query(
    `INSERT INTO product_counts (product_id, upvotes, comments)
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS row (id text, upvotes integer, comments integer)`,
    [JSON.stringify(rows)],
  );
}

const KEYS: Record<ProductSort, (product: ListedProduct) => string> = {
  newest: ({ created_at: time, id }) => `${time} ${id}`,
  top: ({ upvotes, id }) => `${upvotes} ${id}`,
  discussed: ({ comments, id }) => `${comments} ${id}`,
};

/** Returns the expected result of a search. This simple implementation requires single-digit counts. */
export function idsMatching(
  products: readonly ListedProduct[],
  { term, tag, sort }: { term: string; tag: string; sort: ProductSort },
): string[] {
  const keyOf = KEYS[sort];
  return products
    .filter((product) => searchTextOf(product).includes(term) && (tag === '' || product.tags.includes(tag)))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1))
    .map(({ id }) => id);
}
