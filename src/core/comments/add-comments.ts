import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Comment } from '../../contract/comments/schema.ts';
import { CoreError } from '../core-error.ts';
import { OPEN } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-faults.ts';
import { type RowLock, rowLock } from '../database/row-lock.ts';
import type { Outcome } from '../group-commit.ts';
import { productNotFound } from '../products/product-not-found.ts';
import type { Sources } from '../sources.ts';
import type { Draft } from './draft.ts';
import { getCommentsOfKeys, keyExpiry, keyOf } from './idempotency-keys.ts';

/** `created` is false where the draft had made its comment before. */
export interface WrittenComment {
  comment: Comment;
  created: boolean;
}

// A draft with an idempotency key first claims it; a key that is taken, by whichever process, makes no second comment,
// and one that another transaction claims at this moment is waited for. The counts are locked first, as everywhere.
const addCommentsStatement = (lock: RowLock) => `WITH locked AS (
    SELECT product_id FROM product_counts
    WHERE product_id IN (SELECT value ->> 'productId' FROM jsonb_array_elements($1::jsonb)) AND ${OPEN}
    ORDER BY product_id ${lock}
  ), drafts AS (
    SELECT draft.* FROM jsonb_to_recordset($1::jsonb) AS draft (id uuid, "productId" text, "authorName" text,
      "authorAvatar" text, "authorBadge" text, content text, "createdAt" timestamptz, session text, "idempotencyKey" text,
      "heldFor" text)
    JOIN locked ON locked.product_id = draft."productId"
  ), claimed AS (
    INSERT INTO comment_keys (user_session, idempotency_key, product_id, comment_id, created_at)
    SELECT session, "idempotencyKey", "productId", id, "createdAt" FROM drafts
    WHERE "idempotencyKey" IS NOT NULL ORDER BY session, "idempotencyKey"
    ON CONFLICT (user_session, idempotency_key) DO UPDATE
      SET product_id = EXCLUDED.product_id, comment_id = EXCLUDED.comment_id, created_at = EXCLUDED.created_at
      WHERE comment_keys.created_at < $2::timestamptz
    RETURNING comment_id
  ), added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, created_at, held_for)
    SELECT id, "productId", "authorName", "authorAvatar", "authorBadge", content, "createdAt", "heldFor" FROM drafts
    WHERE "idempotencyKey" IS NULL OR id IN (SELECT comment_id FROM claimed)
    RETURNING id, product_id, held_for
  ), counted AS (
    UPDATE product_counts SET comments = product_counts.comments + totals.added
    FROM (SELECT product_id, count(*)::integer AS added FROM added WHERE held_for IS NULL
      GROUP BY product_id ORDER BY product_id) AS totals
    WHERE product_counts.product_id = totals.product_id
  )
  SELECT drafts.id, added.id IS NOT NULL AS created FROM drafts LEFT JOIN added ON added.id = drafts.id`;

/**
 * Writes comments in one transaction, and the counts with them; a comment that is held is not counted yet.
 * @returns for each draft its comment, or the one that its key already stands for, or `product_not_found`.
 * @throws CoreError `unavailable`.
 */
export async function addComments(
  sql: Sql,
  sources: Sources,
  drafts: readonly Draft[],
): Promise<Outcome<WrittenComment>[]> {
  const distinct = firstOfEachKey(drafts);
  const created = await insert(sql, sources, distinct);
  const earlier = await getCommentsOfKeys(
    sql,
    distinct.filter(({ comment }) => created.get(comment.id) === false),
  );
  return drafts.map((draft) => outcomeOf(draft, distinct, created, earlier));
}

/** The same draft sent twice at once is written once. */
function firstOfEachKey(drafts: readonly Draft[]): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((draft) => {
    const key = keyOf(draft);
    if (key === undefined) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** By comment id: whether it was created; missing where there is no such product. */
async function insert(sql: Sql, sources: Sources, drafts: readonly Draft[]): Promise<Map<string, boolean>> {
  const rows = drafts.map(({ comment, ...about }) => ({ ...comment, ...about }));
  try {
    const statement = addCommentsStatement(await rowLock(sql, 'FOR UPDATE'));
    const result = await sql.query<{ id: string; created: boolean }>(statement, [
      JSON.stringify(rows),
      keyExpiry(sources.now()).toISOString(),
    ]);
    return new Map(result.map(({ id, created }) => [id, created]));
  } catch (error) {
    // The product was removed while its comment was written. Among others, each is tried by itself.
    if (drafts.length === 1 && isForeignKeyViolation(error)) return new Map();
    throw error;
  }
}

function outcomeOf(
  draft: Draft,
  distinct: readonly Draft[],
  created: ReadonlyMap<string, boolean>,
  earlier: ReadonlyMap<string, Comment>,
): Outcome<WrittenComment> {
  const key = keyOf(draft);
  const written = distinct.includes(draft) ? draft : distinct.find((other) => keyOf(other) === key);
  const wasCreated = written && created.get(written.comment.id);
  if (written === undefined || wasCreated === undefined) return productNotFound();
  if (wasCreated) return { comment: written.comment, created: written === draft };
  const comment = key === undefined ? undefined : earlier.get(key);
  return comment ? { comment, created: false } : new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
}
