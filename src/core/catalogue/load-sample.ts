import { recordAct } from '../audit/record-act.ts';
import type { Database, Sql } from '../database/database.ts';
import { saveProducts } from '../products/save-products.ts';
import { getSiteFact, setSiteFact } from '../site-facts.ts';
import type { Sources } from '../sources.ts';
import type { SampleCatalogue } from './sample-catalogue.ts';

/**
 * Adds the sample products that are not there yet, with their sample upvotes and comments; products that exist stay as
 * they are. All or nothing, and written down as the operator's act.
 * @returns how many products were added.
 */
export function loadSample(database: Database, catalogue: SampleCatalogue, sources: Sources): Promise<number> {
  return database.transaction(async (sql) => {
    const created = await addMissing(sql, catalogue, sources);
    if (created > 0) await recordAct(sql, { act: 'sample load', subject: 'sample catalogue', details: { created } });
    return created;
  });
}

async function addMissing(sql: Sql, catalogue: SampleCatalogue, sources: Sources): Promise<number> {
  const present = await sql.query<{ id: string }>('SELECT id FROM products WHERE id = ANY($1::text[])', [
    catalogue.products.map((product) => product.id),
  ]);
  const presentIds = new Set(present.map((row) => row.id));
  const missing = catalogue.products.filter((product) => !presentIds.has(product.id));
  const missingIds = new Set(missing.map((product) => product.id));
  await saveProducts(sql, missing);
  await addUpvotes(
    sql,
    catalogue.upvotes.filter(({ productId }) => missingIds.has(productId)),
    sources,
  );
  await addComments(
    sql,
    catalogue.comments.filter(({ productId }) => missingIds.has(productId)),
  );
  await setSiteFact(sql, 'sample_catalogue', 'loaded');
  return missing.length;
}

/** Loads the catalogue into a site that has no product and was not offered it before; that is nobody's act. */
export async function loadSampleIfNew(
  database: Database,
  catalogue: SampleCatalogue,
  sources: Sources,
): Promise<number> {
  if ((await getSiteFact(database, 'sample_catalogue')) !== undefined) return 0;
  const products = await database.query('SELECT 1 FROM products LIMIT 1');
  return products.length > 0 ? 0 : database.transaction((sql) => addMissing(sql, catalogue, sources));
}

const INSERT_UPVOTES = `WITH added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at)
    SELECT id, product_id, user_session, $2::timestamptz
    FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, product_id text, user_session text)
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id
  ), changes AS (
    SELECT product_id, count(*) AS added FROM added GROUP BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + changes.added
  FROM changes WHERE changes.product_id = product_counts.product_id`;

async function addUpvotes(sql: Sql, upvotes: SampleCatalogue['upvotes'], sources: Sources): Promise<void> {
  const rows = upvotes.map(({ productId, session }) => ({
    id: sources.uuid(),
    product_id: productId,
    user_session: session,
  }));
  await sql.query(INSERT_UPVOTES, [JSON.stringify(rows), sources.now().toISOString()]);
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
