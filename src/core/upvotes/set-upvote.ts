import { isProductId } from '../../contract/products/product-id.ts';
import type { UpvoteState } from '../../contract/upvotes/schema.ts';
import type { Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-faults.ts';
import { productNotFound } from '../products/product-not-found.ts';
import type { Sources } from '../sources.ts';

// Both statements change the row and the count in one go, and touch the count only where a row really came or went:
// asked twice, or by two processes at once, they count once.

const ADD = `WITH added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at)
    SELECT $3::uuid, id, $2::text, $4::timestamptz FROM products WHERE id = $1::text
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id
  ), counted AS (
    UPDATE product_counts SET upvotes = upvotes + 1
    WHERE product_id IN (SELECT product_id FROM added)
    RETURNING upvotes
  )
  SELECT upvotes FROM counted
  UNION ALL
  SELECT upvotes FROM product_counts WHERE product_id = $1::text AND NOT EXISTS (SELECT 1 FROM added)`;

const REMOVE = `WITH removed AS (
    DELETE FROM upvotes WHERE product_id = $1::text AND user_session = $2::text
    RETURNING product_id
  ), counted AS (
    UPDATE product_counts SET upvotes = upvotes - 1
    WHERE product_id IN (SELECT product_id FROM removed)
    RETURNING upvotes
  )
  SELECT upvotes FROM counted
  UNION ALL
  SELECT upvotes FROM product_counts WHERE product_id = $1::text AND NOT EXISTS (SELECT 1 FROM removed)`;

/**
 * Brings a session's upvote of a product into the wished state; doing it again changes nothing.
 * @returns the state, and the product's count after it.
 * @throws CoreError `product_not_found`, `unavailable`.
 */
export async function setUpvote(
  sql: Sql,
  sources: Sources,
  change: { productId: string; session: string; upvoted: boolean },
): Promise<UpvoteState> {
  const { productId, session, upvoted } = change;
  if (!isProductId(productId)) throw productNotFound();
  const [row] = upvoted
    ? await insert(sql, [productId, session, sources.uuid(), sources.now().toISOString()])
    : await sql.query<{ upvotes: number }>(REMOVE, [productId, session]);
  if (row === undefined) throw productNotFound();
  return { upvoted, upvotes: row.upvotes };
}

async function insert(sql: Sql, values: readonly string[]): Promise<{ upvotes: number }[]> {
  try {
    return await sql.query<{ upvotes: number }>(ADD, values);
  } catch (error) {
    // The product was removed between the look at it and the insert.
    if (isForeignKeyViolation(error)) throw productNotFound();
    throw error;
  }
}
