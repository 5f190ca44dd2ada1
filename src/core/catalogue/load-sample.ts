import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { insertWithRetries } from '../database/transactions.ts';
import { insertProducts } from '../products/save-products.ts';
import type { Runtime } from '../runtime.ts';
import { requireUnreserved } from '../submissions/create-submission.ts';
import { getSiteMetadata, type SampleCatalogue, type SampleTime, setSiteMetadata } from './sample-catalogue.ts';

/**
 * Adds missing sample products with their sample upvotes and comments, in one transaction. Existing products do not
 * change, and ids that submissions have reserved are skipped. The addition is recorded in the audit log.
 * @returns the number of added products.
 */
export function loadSample(database: Database, catalogue: SampleCatalogue, runtime: Runtime): Promise<number> {
  return insertWithRetries(database, async (sql) => {
    const created = await addMissing(sql, catalogue, runtime);
    if (created > 0)
      await recordAudit(sql, { action: 'sample load', target: 'sample catalogue', details: { created } });
    return created;
  });
}

async function addMissing(sql: Sql, catalogue: SampleCatalogue, runtime: Runtime): Promise<number> {
  const ids = catalogue.products.map((product) => product.id);
  const presentIds = new Set<string>();
  for (const table of ['products', 'submissions']) {
    const present = await sql.query<{ id: string }>(`SELECT id FROM ${table} WHERE id = ANY($1::text[])`, [ids]);
    for (const { id } of present) presentIds.add(id);
  }
  const missing = catalogue.products.filter((product) => !presentIds.has(product.id));
  const missingIds = new Set(missing.map((product) => product.id));
  // Fails if another transaction creates one of these products at the same time. The next attempt then skips it.
  await insertProducts(sql, missing);
  await addUpvotes(
    sql,
    catalogue.upvotes.filter(({ productId }) => missingIds.has(productId)),
    runtime,
  );
  await addComments(
    sql,
    catalogue.comments.filter(({ productId }) => missingIds.has(productId)),
  );
  await setSiteMetadata(sql, 'sample_catalogue', 'loaded');
  // If the whole sample is already loaded, the time of that load stays, because a removal recognizes the sample by it.
  if (missing.length > 0) await setSiteMetadata(sql, 'sample_loaded_at', JSON.stringify(catalogue.loadedAt));
  await requireUnreserved(sql, [...missingIds]);
  await recordChange(sql, { productIds: [...missingIds], catalogue: true });
  return missing.length;
}

/**
 * Returns the time at which the site's sample was loaded, for `readSampleCatalogue`, or undefined if the site has none.
 */
export async function getSampleTime(sql: Sql): Promise<SampleTime | undefined> {
  const stored = await getSiteMetadata(sql, 'sample_loaded_at');
  return stored === undefined ? undefined : JSON.parse(stored);
}

/**
 * Loads the sample if the site has no products, never had the sample and was never started without it. The addition is
 * not recorded in the audit log.
 * @returns the number of added products.
 */
export async function loadSampleIfNew(
  database: Database,
  catalogue: SampleCatalogue,
  runtime: Runtime,
): Promise<number> {
  if ((await getSiteMetadata(database, 'sample_catalogue')) !== undefined) return 0;
  const products = await database.query('SELECT 1 FROM products LIMIT 1');
  if (products.length === 0) return insertWithRetries(database, (sql) => addMissing(sql, catalogue, runtime));
  await skipSample(database);
  return 0;
}

/**
 * Prevents later starts from loading the sample, because an existing site without products is not a new one. Writes
 * only once, so a site also starts while its database is read-only.
 */
export async function skipSample(sql: Sql): Promise<void> {
  if ((await getSiteMetadata(sql, 'sample_catalogue')) !== undefined) return;
  await sql.query(
    "INSERT INTO site_metadata (name, value) VALUES ('sample_catalogue', 'skipped') ON CONFLICT (name) DO NOTHING",
  );
}

// Does not update the counts of launches: placing a launch on its leaderboards counts the votes in its window.
const INSERT_UPVOTES = `WITH added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, verdict)
    SELECT id, product_id, user_session, created_at, verdict
    FROM jsonb_to_recordset($1::jsonb)
      AS row (id uuid, product_id text, user_session text, created_at timestamptz, verdict text)
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id
  ), changes AS (
    SELECT product_id, count(*) AS added FROM added GROUP BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + changes.added
  FROM changes WHERE changes.product_id = product_counts.product_id`;

async function addUpvotes(sql: Sql, upvotes: SampleCatalogue['upvotes'], runtime: Runtime): Promise<void> {
  const rows = upvotes.map(({ productId, session, createdAt, verdict }) => ({
    id: runtime.uuid(),
    product_id: productId,
    user_session: session,
    created_at: createdAt,
    verdict,
  }));
  await sql.query(INSERT_UPVOTES, [JSON.stringify(rows)]);
}

const INSERT_COMMENTS = `WITH added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, likes, created_at)
    SELECT id, "productId", "authorName", "authorAvatar", "authorBadge", content, likes, "createdAt"
    FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, "productId" text, "authorName" text, "authorAvatar" text,
      "authorBadge" text, content text, likes integer, "createdAt" timestamptz)
    ON CONFLICT (product_id, id) DO NOTHING
    RETURNING product_id
  ), changes AS (
    SELECT product_id, count(*) AS added FROM added GROUP BY product_id
  )
  UPDATE product_counts SET comments = product_counts.comments + changes.added
  FROM changes WHERE changes.product_id = product_counts.product_id`;

async function addComments(sql: Sql, comments: SampleCatalogue['comments']): Promise<void> {
  await sql.query(INSERT_COMMENTS, [JSON.stringify(comments)]);
}
