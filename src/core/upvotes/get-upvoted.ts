import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { Upvoted } from '../../contract/upvotes/schema.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';

const SELECT_UPVOTED = `SELECT product_id FROM upvotes WHERE product_id = ANY($1::text[]) AND user_session = $2`;

/**
 * Returns which of these products a session has upvoted. Unknown products are left out.
 * @throws CoreError `too_many_products`, `unavailable`.
 */
export async function getUpvoted(sql: Sql, productIds: readonly string[], session: string): Promise<Upvoted> {
  if (productIds.length > LIMITS.upvoteQueryProducts) {
    throw new CoreError(
      'too_many_products',
      `At most ${LIMITS.upvoteQueryProducts} products can be requested at once.`,
    );
  }
  const requested = [...new Set(productIds)].filter(isProductId);
  if (requested.length === 0) return { upvoted: [] };
  const rows = await sql.query<{ product_id: string }>(SELECT_UPVOTED, [requested, session], { isPrepared: true });
  const upvoted = new Set(rows.map((row) => row.product_id));
  return { upvoted: requested.filter((id) => upvoted.has(id)) };
}
