import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Comment } from '../../contract/comments/schema.ts';
import { CoreError, productNotFound, productPaused } from '../core-error.ts';
import { IS_WRITABLE, MAY_BE_PAUSED } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-errors.ts';
import type { BatchResult, Outcome } from '../group-commit.ts';
import type { Runtime } from '../runtime.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { getCommentsOfKeys, keyExpiry, keyOf } from './idempotency-keys.ts';
import type { PreparedComment } from './prepare-comment.ts';

/** A stored comment. `created` is false if an earlier request with the same idempotency key created it. */
export interface WrittenComment {
  comment: Comment;
  created: boolean;
}

// Like other writers, the statement locks counts first. A comment with an idempotency key then claims the key. If the
// key is already claimed, no comment is added. If another transaction is claiming it, the statement waits for that
// transaction.
const ADD_COMMENTS = `WITH locked AS (
    SELECT product_id FROM product_counts
    WHERE product_id IN (SELECT value ->> 'productId' FROM jsonb_array_elements($1::jsonb)) AND ${IS_WRITABLE}
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), prepared AS (
    SELECT input.* FROM jsonb_to_recordset($1::jsonb) AS input (id uuid, "productId" text, "authorName" text,
      "authorAvatar" text, "authorBadge" text, content text, "createdAt" timestamptz, session text, "idempotencyKey" text,
      "heldSession" text)
    JOIN locked ON locked.product_id = input."productId"
    JOIN products p ON p.id = locked.product_id AND p.created_at <= $3::timestamptz
  ), claimed AS (
    INSERT INTO comment_idempotency_keys (user_session, idempotency_key, product_id, comment_id, created_at)
    SELECT session, "idempotencyKey", "productId", id, "createdAt" FROM prepared
    WHERE "idempotencyKey" IS NOT NULL ORDER BY session, "idempotencyKey"
    ON CONFLICT (user_session, idempotency_key) DO UPDATE
      SET product_id = EXCLUDED.product_id, comment_id = EXCLUDED.comment_id, created_at = EXCLUDED.created_at
      WHERE comment_idempotency_keys.created_at < $2::timestamptz
    RETURNING comment_id
  ), added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, created_at, held_session)
    SELECT id, "productId", "authorName", "authorAvatar", "authorBadge", content, "createdAt", "heldSession" FROM prepared
    WHERE "idempotencyKey" IS NULL OR id IN (SELECT comment_id FROM claimed)
    RETURNING id, product_id, held_session
  ), counted AS (
    UPDATE product_counts SET comments = product_counts.comments + totals.added
    FROM (SELECT product_id, count(*)::integer AS added FROM added WHERE held_session IS NULL
      GROUP BY product_id ORDER BY product_id) AS totals
    WHERE product_counts.product_id = totals.product_id
  )
  SELECT prepared.id, added.id IS NOT NULL AS created FROM prepared LEFT JOIN added ON added.id = prepared.id`;

const SELECT_PAUSED = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[]) AND ${MAY_BE_PAUSED}`;

/**
 * Adds comments and updates the counts in one transaction. A held comment is not counted until it is released.
 * @returns for each comment, the written one or the earlier one with the same idempotency key, or a CoreError:
 * `product_not_found`, `comment_not_found`, or `unavailable` while the many votes of the product are recounted.
 * @throws CoreError `unavailable`.
 */
export async function addComments(
  sql: Sql,
  runtime: Runtime,
  batch: readonly PreparedComment[],
): Promise<BatchResult<WrittenComment>> {
  const distinct = firstOfEachKey(batch);
  const inserted = await insert(sql, runtime, distinct);
  const earlier = await getCommentsOfKeys(
    sql,
    distinct.filter(({ comment }) => inserted.created.get(comment.id) === false),
  );
  const outcomes = batch.map((prepared) => outcomeOf(prepared, distinct, inserted, earlier));
  // Existing comments are included, because their product may be stale in a cache or a replica.
  const written = outcomes.flatMap((outcome) => (outcome instanceof CoreError ? [] : outcome.comment));
  return {
    outcomes,
    productIds: [...new Set(written.map(({ productId }) => productId))],
    commentIds: [...new Set(written.map(({ id }) => id))],
  };
}

/**
 * Adds comments, and records an event for each new comment that is held, in one transaction.
 * @throws CoreError `unavailable`.
 */
export async function addCommentsWithEvents(
  database: Database,
  runtime: Runtime,
  batch: readonly PreparedComment[],
  recordEvents: RecordEvents | undefined,
): Promise<BatchResult<WrittenComment>> {
  // Without a receiver or a held comment, no events are recorded, so the single write statement needs no explicit
  // transaction.
  if (recordEvents === undefined || batch.every(({ heldSession }) => heldSession === null)) {
    return addComments(database, runtime, batch);
  }
  return database.transaction(async (sql) => {
    const result = await addComments(sql, runtime, batch);
    const held = batch.flatMap(
      ({ heldSession, comment: { id: commentId, productId, createdAt: timestamp } }, index) => {
        const outcome = result.outcomes[index];
        const isNew = outcome !== undefined && 'created' in outcome && outcome.created;
        if (heldSession === null || !isNew) return [];
        return { type: 'comment.held' as const, timestamp, data: { commentId, productId } };
      },
    );
    await recordEvents(sql, held);
    return result;
  });
}

/**
 * Omits repetitions of an idempotency key for the same product, so a comment that was sent twice is written once.
 * Repetitions for different products stay, because one of the products may be unknown. If both exist, the batch fails,
 * and group commit splits it.
 */
function firstOfEachKey(batch: readonly PreparedComment[]): PreparedComment[] {
  const seen = new Set<string>();
  return batch.filter((prepared) => {
    const key = keyAndProductOf(prepared);
    if (key === undefined) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function keyAndProductOf(prepared: PreparedComment): string | undefined {
  const key = keyOf(prepared);
  return key && `${key} ${prepared.comment.productId}`;
}

interface Inserted {
  /** Whether each comment was created, by its id. Omits comments on products that accept none. */
  created: ReadonlyMap<string, boolean>;
  /** The ids of products that accept no comments at the moment, because their many votes are being recounted. */
  paused: ReadonlySet<string>;
}

async function insert(sql: Sql, runtime: Runtime, batch: readonly PreparedComment[]): Promise<Inserted> {
  const rows = batch.map(({ comment, ...about }) => ({ ...comment, ...about }));
  try {
    const values = [JSON.stringify(rows), keyExpiry(runtime.now()).toISOString(), runtime.now().toISOString()];
    const result = await sql.query<{ id: string; created: boolean }>(ADD_COMMENTS, values, { isPrepared: true });
    const created = new Map(result.map((row) => [row.id, row.created]));
    const skipped = batch.filter(({ comment }) => !created.has(comment.id)).map(({ comment }) => comment.productId);
    const paused = skipped.length === 0 ? [] : await sql.query<{ product_id: string }>(SELECT_PAUSED, [skipped]);
    return { created, paused: new Set(paused.map((row) => row.product_id)) };
  } catch (error) {
    // The product was removed while the comment was written. A larger batch fails, and group commit retries its halves.
    if (batch.length === 1 && isForeignKeyViolation(error)) return { created: new Map(), paused: new Set() };
    throw error;
  }
}

function outcomeOf(
  prepared: PreparedComment,
  distinct: readonly PreparedComment[],
  { created, paused }: Inserted,
  earlier: ReadonlyMap<string, Comment>,
): Outcome<WrittenComment> {
  const key = keyAndProductOf(prepared);
  const written = distinct.includes(prepared) ? prepared : distinct.find((other) => keyAndProductOf(other) === key);
  const wasCreated = written && created.get(written.comment.id);
  if (written === undefined || wasCreated === undefined)
    return paused.has(prepared.comment.productId) ? productPaused() : productNotFound();
  if (wasCreated) return { comment: written.comment, created: written === prepared };
  const comment = earlier.get(keyOf(prepared) ?? '');
  return comment ? { comment, created: false } : new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
}
