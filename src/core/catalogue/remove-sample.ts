import { isDeepStrictEqual } from 'node:util';
import { recordAct } from '../audit/record-act.ts';
import { noteChange } from '../changes/change-feed.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { setSiteFact } from '../site-facts.ts';
import { SAMPLE_SESSION_PREFIX, type SampleCatalogue } from './sample-catalogue.ts';

export interface RemovedSample {
  products: number;
  comments: number;
  upvotes: number;
  /** Ids of sample products that were changed since they were loaded: somebody's own now, so they stay. */
  kept: string[];
}

/**
 * Takes the sample catalogue off the site: its upvotes and comments, and, unless only those are meant, its products with
 * everything that visitors added to them. It does not come back at the next start. All or nothing.
 */
export async function removeSample(
  database: Database,
  catalogue: SampleCatalogue,
  { engagementOnly }: { engagementOnly: boolean },
): Promise<RemovedSample> {
  return database.transaction(async (sql) => {
    await lockCounts(
      sql,
      catalogue.products.map((product) => product.id),
    );
    const upvotes = await removeUpvotes(sql, catalogue);
    const comments = await removeComments(sql, catalogue);
    const { unchanged, changed } = engagementOnly ? { unchanged: [], changed: [] } : await sortOut(sql, catalogue);
    await sql.query('DELETE FROM products WHERE id = ANY($1::text[])', [unchanged]);
    await setSiteFact(sql, 'sample_catalogue', 'removed');
    const counts = { products: unchanged.length, comments, upvotes };
    await recordAct(sql, { act: 'sample remove', subject: 'sample catalogue', details: counts });
    await noteChange(sql, { productIds: catalogue.products.map((product) => product.id), catalogue: true });
    return { ...counts, kept: changed };
  });
}

const DELETE_UPVOTES = `WITH removed AS (
    DELETE FROM upvotes WHERE product_id = ANY($1::text[]) AND user_session LIKE $2 RETURNING product_id
  ), changes AS (
    SELECT product_id, count(*)::integer AS removed FROM removed GROUP BY product_id
  ), counted AS (
    UPDATE product_counts SET upvotes = product_counts.upvotes - changes.removed
    FROM changes WHERE changes.product_id = product_counts.product_id
  )
  SELECT coalesce(sum(removed), 0)::integer AS removed FROM changes`;

async function removeUpvotes(sql: Sql, catalogue: SampleCatalogue): Promise<number> {
  const ids = catalogue.products.map((product) => product.id);
  const [row] = await sql.query<{ removed: number }>(DELETE_UPVOTES, [ids, `${SAMPLE_SESSION_PREFIX}%`]);
  return row?.removed ?? 0;
}

const DELETE_COMMENTS = `WITH removed AS (
    DELETE FROM comments WHERE id = ANY($1::uuid[]) RETURNING product_id, held_for, hidden_at
  ), changes AS (
    SELECT product_id, count(*)::integer AS removed, (count(*) FILTER (WHERE ${PUBLIC}))::integer AS counted
    FROM removed GROUP BY product_id
  ), counted AS (
    UPDATE product_counts SET comments = product_counts.comments - changes.counted
    FROM changes WHERE changes.product_id = product_counts.product_id
  )
  SELECT coalesce(sum(removed), 0)::integer AS removed FROM changes`;

async function removeComments(sql: Sql, catalogue: SampleCatalogue): Promise<number> {
  const ids = catalogue.comments.map((comment) => comment.id);
  const [row] = await sql.query<{ removed: number }>(DELETE_COMMENTS, [ids]);
  return row?.removed ?? 0;
}

async function sortOut(sql: Sql, catalogue: SampleCatalogue): Promise<{ unchanged: string[]; changed: string[] }> {
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`,
    [catalogue.products.map((product) => product.id)],
  );
  const samples = new Map(catalogue.products.map((product) => [product.id, product]));
  const unchanged: string[] = [];
  const changed: string[] = [];
  for (const row of rows) {
    const { upvotes: _upvotes, comments: _comments, ...stored } = productOf(row);
    (isDeepStrictEqual(stored, samples.get(row.id)) ? unchanged : changed).push(row.id);
  }
  return { unchanged, changed };
}
