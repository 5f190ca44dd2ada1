import { isDeepStrictEqual } from 'node:util';
import type { Product } from '../../contract/products/schema.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { lockDaysOf } from '../leaderboards/final-boards.ts';
import { recountLaunches, refreshLaunches } from '../leaderboards/launch-votes.ts';
import { lockProductRows, readProducts } from '../products/product-row.ts';
import { deleteProducts, removalTransaction, sizesOf } from '../products/remove-products.ts';
import {
  deleteSiteMetadata,
  SAMPLE_SESSION_PREFIX,
  type SampleCatalogue,
  setSiteMetadata,
} from './sample-catalogue.ts';

/** The numbers of rows that a removal of the sample catalogue deletes. */
export interface SampleRemoval {
  products: number;
  comments: number;
  upvotes: number;
  /** Comments and upvotes of visitors, which are removed together with the products. */
  visitorComments: number;
  visitorUpvotes: number;
  /** Ids of sample products that stay because they were changed. */
  notRemoved: string[];
}

/** The LIKE pattern of the sessions of sample upvotes. */
const SAMPLE_SESSIONS = `${SAMPLE_SESSION_PREFIX}%`;

interface RemovalScope {
  /** Whether to remove only the sample upvotes and comments, and keep the products. */
  engagementOnly: boolean;
}

/** Counts the rows that `removeSample` would remove now. @throws CoreError `unavailable`. */
export async function previewRemoval(
  sql: Sql,
  catalogue: SampleCatalogue,
  { engagementOnly }: RemovalScope,
): Promise<SampleRemoval> {
  const { unchanged, changed } = engagementOnly ? NO_PRODUCTS : await findSampleProducts(sql, catalogue);
  const [sample] = await sql.query<{ upvotes: number; comments: number }>(COUNT_SAMPLE, [
    idsOf(catalogue.products),
    SAMPLE_SESSIONS,
    idsOf(catalogue.comments),
  ]);
  return {
    products: unchanged.length,
    comments: sample?.comments ?? 0,
    upvotes: sample?.upvotes ?? 0,
    ...(await countVisitors(sql, catalogue, unchanged)),
    notRemoved: changed,
  };
}

/**
 * Removes the upvotes and comments of the sample catalogue in one transaction and, unless `engagementOnly`, its
 * unchanged products, including visitors' upvotes and comments on them. The next start does not load the catalogue
 * again. The votes of remaining launches whose results are final do not change. `database` must have no statement timeout
 * if the products may have many upvotes or comments.
 */
export async function removeSample(
  database: Database,
  catalogue: SampleCatalogue,
  { engagementOnly }: RemovalScope,
): Promise<SampleRemoval> {
  const productIds = idsOf(catalogue.products);
  const sizes = engagementOnly ? [] : await sizesOf(database, productIds);
  return removalTransaction(database, sizes, async (sql) => {
    if (!engagementOnly) {
      // Waits for concurrent edits and imports, so the products that they change stay.
      await lockProductRows(sql, productIds);
      await sql.query(LOCK_RESULTS);
    }
    await lockDaysOf(sql, productIds);
    await lockCounts(sql, productIds);
    const { unchanged, changed } = engagementOnly ? NO_PRODUCTS : await findSampleProducts(sql, catalogue);
    const removals = (await readProducts(sql, unchanged)).map(sampleRemovalEntry);
    const upvotes = await removeUpvotes(sql, catalogue);
    const comments = await removeComments(sql, catalogue);
    const visitors = await countVisitors(sql, catalogue, unchanged);
    const periods = await deleteProducts(sql, unchanged, () => recountOpenLaunches(sql, catalogue));
    await sql.query(DELETE_EMPTY_RESULTS, [periods]);
    await setSiteMetadata(sql, 'sample_catalogue', 'removed');
    if (!engagementOnly) await deleteSiteMetadata(sql, 'sample_loaded_at');
    const counts = { products: unchanged.length, comments, upvotes, ...visitors };
    await recordAudit(sql, [...removals, { action: 'sample remove', target: 'sample catalogue', details: counts }]);
    await recordChange(sql, { productIds, catalogue: true });
    return { ...counts, notRemoved: changed };
  });
}

/** Returns the audit entry of a removed product, for the public moderation log. */
function sampleRemovalEntry({ id: target, name, upvotes, comments }: Product) {
  const details = { name, upvotes, comments, launched: true, reason: 'Sample catalogue removed' };
  return { action: 'sample remove', target, details } as const;
}

// Blocks other transactions that add launches to leaderboards. Otherwise, a launch could be added to a result that
// `DELETE_EMPTY_RESULTS` deletes.
const LOCK_RESULTS = 'LOCK TABLE leaderboards IN EXCLUSIVE MODE';

// Deletes final results without launches. Otherwise, they would stay final even if the operator imported launches for
// their periods. Results of removed products stay, because the products can be restored.
const DELETE_EMPTY_RESULTS = `DELETE FROM leaderboards b
  WHERE period = ANY($1::text[]) AND final_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM leaderboard_counts c WHERE c.period = b.period AND c.products > 0)
    AND NOT EXISTS (
      SELECT FROM removed_products
      WHERE b.period IN (launch ->> 'day', launch ->> 'week', launch ->> 'month', launch ->> 'year')
    )`;

async function recountOpenLaunches(sql: Sql, catalogue: SampleCatalogue): Promise<void> {
  const open = await sql.query<{ product_id: string }>(
    'SELECT product_id FROM launches WHERE product_id = ANY($1::text[]) AND NOT final ORDER BY product_id',
    [idsOf(catalogue.products)],
  );
  const productIds = open.map((row) => row.product_id);
  await recountLaunches(sql, productIds);
  await refreshLaunches(sql, productIds);
}

const NO_PRODUCTS = { unchanged: [], changed: [] };

const COUNT_SAMPLE = `SELECT
    (SELECT count(*)::integer FROM upvotes WHERE product_id = ANY($1::text[]) AND user_session LIKE $2) AS upvotes,
    (SELECT count(*)::integer FROM comments WHERE id = ANY($3::uuid[])) AS comments`;

const COUNT_VISITORS = `SELECT
    (SELECT count(*)::integer FROM upvotes WHERE product_id = ANY($1::text[]) AND user_session NOT LIKE $2) AS upvotes,
    (SELECT count(*)::integer FROM comments WHERE product_id = ANY($1::text[]) AND id <> ALL($3::uuid[])) AS comments`;

async function countVisitors(
  sql: Sql,
  catalogue: SampleCatalogue,
  productIds: readonly string[],
): Promise<Pick<SampleRemoval, 'visitorUpvotes' | 'visitorComments'>> {
  const [row] = await sql.query<{ upvotes: number; comments: number }>(COUNT_VISITORS, [
    productIds,
    SAMPLE_SESSIONS,
    idsOf(catalogue.comments),
  ]);
  return { visitorUpvotes: row?.upvotes ?? 0, visitorComments: row?.comments ?? 0 };
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
  const ids = idsOf(catalogue.products);
  const [row] = await sql.query<{ removed: number }>(DELETE_UPVOTES, [ids, SAMPLE_SESSIONS]);
  return row?.removed ?? 0;
}

const DELETE_COMMENTS = `WITH removed AS (
    DELETE FROM comments WHERE id = ANY($1::uuid[]) RETURNING product_id, held_session, hidden_at
  ), changes AS (
    SELECT product_id, count(*)::integer AS removed, (count(*) FILTER (WHERE ${PUBLIC}))::integer AS counted
    FROM removed GROUP BY product_id
  ), counted AS (
    UPDATE product_counts SET comments = product_counts.comments - changes.counted
    FROM changes WHERE changes.product_id = product_counts.product_id
  )
  SELECT coalesce(sum(removed), 0)::integer AS removed FROM changes`;

async function removeComments(sql: Sql, catalogue: SampleCatalogue): Promise<number> {
  const [row] = await sql.query<{ removed: number }>(DELETE_COMMENTS, [idsOf(catalogue.comments)]);
  return row?.removed ?? 0;
}

async function findSampleProducts(
  sql: Sql,
  catalogue: SampleCatalogue,
): Promise<{ unchanged: string[]; changed: string[] }> {
  const ids = idsOf(catalogue.products);
  const samples = new Map(catalogue.products.map((product) => [product.id, product]));
  const unchanged: string[] = [];
  const changed: string[] = [];
  for (const { upvotes: _upvotes, comments: _comments, ...stored } of await readProducts(sql, ids)) {
    (isDeepStrictEqual(stored, samples.get(stored.id)) ? unchanged : changed).push(stored.id);
  }
  return { unchanged, changed };
}

function idsOf(items: readonly { id: string }[]): string[] {
  return items.map(({ id }) => id);
}
