import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { finalizeLateLaunches, lockDays, periodsOf, reviseBoards } from '../leaderboards/final-boards.ts';
import { countPlaced, updateHistogram } from '../leaderboards/histogram.ts';
import { refreshLaunches } from '../leaderboards/launch-votes.ts';
import { UNPLACE } from '../leaderboards/update-boards.ts';
import type { RemovedProduct } from './remove-products.ts';
import { completeProduct, rowOf, updateSizes, withMissedLaunch } from './save-products.ts';

/**
 * The removals to undo: those of the last `products remove`, the newest removal of each of these products, or the
 * removals with these ids.
 */
export type RemovalChoice = { last: true } | { productIds: readonly string[] } | { removalIds: readonly string[] };

/**
 * The result of a restoration. If one of the products was not removed, or its id is taken by another product, no
 * product was restored.
 */
interface ProductRestoration {
  restored: RemovedProduct[];
  /** The ids of the restorations' entries in the audit log. */
  auditIds: string[];
  /** The requested ids, of products or of removals, without a removal. */
  notRemoved: string[];
  taken: string[];
}

interface RemovalRow {
  removal_id: string;
  product_id: string;
  name: string;
  upvotes: number;
  comments: number;
  /** The day of the leaderboard that the product was on. */
  day: string | null;
  created_at: Date;
  launch_date: string;
  removed_at: Date;
  now: Date;
}

const COLUMNS = `removal_id, product_id, product ->> 'name' AS name, upvotes, comments, launch ->> 'day' AS day,
  (product ->> 'created_at')::timestamptz AS created_at, product ->> 'launch_date' AS launch_date, removed_at,
  statement_timestamp() AS now`;

/**
 * Restores removed products with their counts, upvotes and comments, in one transaction. If any product cannot be
 * restored, none is restored. If the launch time of a product passed while it was removed, the product launches now.
 * Visitors' writes do not wait for the transaction. For `LARGE_CHANGE_ROWS` rows or more, `database` must have no
 * statement timeout.
 * @param timeZone the value of SITE_TIME_ZONE.
 * @throws CoreError `unavailable`.
 */
export async function restoreProducts(
  database: Database,
  choice: RemovalChoice,
  timeZone = 'UTC',
): Promise<ProductRestoration> {
  const refusal = new Refusal();
  try {
    const restoration = await transactionWithRetries(database, async (sql) => {
      const rows = await selectRemovals(sql, choice);
      refusal.notRemoved = notFoundIn(rows, choice);
      if (refusal.notRemoved.length > 0) throw refusal;
      await launchMissed(sql, rows, timeZone);
      refusal.taken = await moveBack(sql, rows);
      if (refusal.taken.length > 0) throw refusal;
      const restored = rows.map(({ product_id: id, name, upvotes, comments }) => ({ id, name, upvotes, comments }));
      const auditIds = await recordAudit(
        sql,
        rows.map(({ removal_id: undoes, product_id: target, name, upvotes, comments }) => ({
          action: 'products restore',
          target,
          details: { name, upvotes, comments },
          undoes,
        })),
      );
      await recordChange(sql, { productIds: restored.map(({ id }) => id), catalogue: true });
      return { restored, auditIds, notRemoved: [], taken: [] };
    });
    await updateSizes(database, restoration.restored.length);
    return restoration;
  } catch (error) {
    if (error !== refusal) throw error;
    return { restored: [], auditIds: [], notRemoved: refusal.notRemoved, taken: refusal.taken };
  }
}

/**
 * Returns the number of rows that undoing these removals moves, from the stored counts.
 * @throws CoreError `unavailable`.
 */
export async function countRemovedRows(sql: Sql, removalIds: readonly string[]): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(
    'SELECT coalesce(sum(upvotes + comments), 0)::float8 AS rows FROM removed_products WHERE removal_id = ANY($1::uuid[])',
    [removalIds],
  );
  return row?.rows ?? 0;
}

/** Thrown to roll back the transaction and to pass the reason to the caller. */
class Refusal extends Error {
  notRemoved: string[] = [];
  taken: string[] = [];
}

/**
 * Selects the last batch of `products remove`, whose removals have the ids of their audit entries. A removal by undoing
 * an import has no such entry, or its entry names the import.
 */
const LAST_BATCH = `SELECT batch_id FROM removed_products
  WHERE EXISTS (SELECT FROM audit_log WHERE id = removal_id AND details -> 'import' IS NULL)
  ORDER BY removed_at DESC, batch_id LIMIT 1`;

/** Selects and locks the removals, so the second of two concurrent restorations finds no row. */
function selectRemovals(sql: Sql, choice: RemovalChoice): Promise<RemovalRow[]> {
  const [condition, values]: [string, unknown[]] =
    'last' in choice
      ? [`batch_id = (${LAST_BATCH})`, []]
      : 'removalIds' in choice
        ? ['removal_id = ANY($1::uuid[])', [choice.removalIds]]
        : [
            `removal_id IN (SELECT (SELECT removal_id FROM removed_products WHERE product_id = requested.id
               ORDER BY removed_at DESC, removal_id LIMIT 1) FROM unnest($1::text[]) AS requested (id))`,
            [choice.productIds],
          ];
  return sql.query<RemovalRow>(
    `SELECT ${COLUMNS} FROM removed_products WHERE ${condition} ORDER BY product_id FOR UPDATE`,
    values,
  );
}

function notFoundIn(rows: readonly RemovalRow[], choice: RemovalChoice): string[] {
  if ('last' in choice) return [];
  const byRemoval = 'removalIds' in choice;
  const found = new Set(rows.map((row) => (byRemoval ? row.removal_id : row.product_id)));
  return [...new Set(byRemoval ? choice.removalIds : choice.productIds)].filter((id) => !found.has(id));
}

// Sets the launch times of the removed products and of their submissions, because undoing an approval compares the two.
// Must run before products are written, because submissions are locked before products.
const SET_LAUNCH_TIMES = `WITH moved AS (
    UPDATE removed_products r SET
      product = product || jsonb_build_object('created_at', row.at, 'launch_date', row.launch_date),
      counts = counts || jsonb_build_object('window_from', row.at), launch = launch || jsonb_build_object('launched_at', row.at)
    FROM jsonb_to_recordset($1::jsonb) AS row (removal_id uuid, missed timestamptz, at timestamptz, launch_date text)
    WHERE r.removal_id = row.removal_id AND launch ->> 'final' IS DISTINCT FROM 'true'
    RETURNING product_id, row.missed, row.at
  )
  UPDATE submissions s SET launch_at = moved.at FROM moved
  WHERE s.id = moved.product_id AND s.status = 'approved' AND s.launch_at = moved.missed`;

/** Sets launch times that passed while the products were removed to the current time. */
async function launchMissed(sql: Sql, rows: readonly RemovalRow[], timeZone: string): Promise<void> {
  const moved = rows.flatMap(({ removal_id, created_at, launch_date: launchDate, removed_at: changedAt, now }) => {
    const before = { createdAt: created_at.toISOString(), launchDate };
    const after = withMissedLaunch(before, { changedAt, now, timeZone });
    return after === before
      ? []
      : { removal_id, missed: created_at, at: after.createdAt, launch_date: after.launchDate };
  });
  if (moved.length > 0) await sql.query(SET_LAUNCH_TIMES, [JSON.stringify(moved)]);
}

// `$2` contains the default values of fields that were added after the removal.
const RESTORE_PRODUCTS = `INSERT INTO products
  SELECT (jsonb_populate_record(NULL::products, $2::jsonb || product)).* FROM removed_products
  WHERE removal_id = ANY($1::uuid[])
  ON CONFLICT (id) DO NOTHING RETURNING id`;

const FROM_REMOVED_UPVOTES =
  'FROM removed_products r JOIN removed_upvotes u ON u.removal_id = r.removal_id WHERE r.removal_id = ANY($1::uuid[])';

const RESTORE_DEPENDENTS = [
  `INSERT INTO product_counts
   SELECT (jsonb_populate_record(NULL::product_counts,
     '{"comments":0,"counted":0,"excluded_network":0,"excluded_operator":0,"has_decisions":false,"upvotes":0,"window_changes":0,"window_from":"-infinity"}'::jsonb || counts
     || jsonb_build_object('product_id', product_id, 'writes_blocked_until', NULL, 'writes_paused_until', NULL))).*
   FROM removed_products WHERE removal_id = ANY($1::uuid[])`,
  `INSERT INTO launches SELECT (jsonb_populate_record(NULL::launches, launch)).*
   FROM removed_products WHERE removal_id = ANY($1::uuid[]) AND launch IS NOT NULL`,
  `INSERT INTO upvotes (id, product_id, user_session, created_at, network, verdict)
   SELECT u.id, r.product_id, u.user_session, u.created_at, u.network, u.verdict ${FROM_REMOVED_UPVOTES} AND NOT u.retracted`,
  `INSERT INTO retracted_upvotes (product_id, id, user_session, created_at, network, verdict)
   SELECT r.product_id, u.id, u.user_session, u.created_at, u.network, u.verdict ${FROM_REMOVED_UPVOTES} AND u.retracted`,
  `INSERT INTO vote_decisions
   SELECT (jsonb_populate_recordset(NULL::vote_decisions, decisions)).* FROM removed_products WHERE removal_id = ANY($1::uuid[])`,
  `INSERT INTO tally_parts (product_id, part, day, votes, content)
   SELECT r.product_id, t.part, t.day, t.votes, t.content
   FROM removed_products r JOIN removed_tally_parts t ON t.removal_id = r.removal_id WHERE r.removal_id = ANY($1::uuid[])`,
  `INSERT INTO comments
   SELECT (jsonb_populate_record(NULL::comments, comment)).* FROM removed_comments WHERE removal_id = ANY($1::uuid[])`,
  'DELETE FROM removed_products WHERE removal_id = ANY($1::uuid[])',
];

// A launch may have been removed before the board updater moved it to its new launch time. If its previous day is final
// by now, the launch leaves that day, so it does not get the final result.
const UNPLACE_MOVED = `${UNPLACE} AND day = ANY($2::text[]) AND NOT final AND placed_for <> launched_at`;

/**
 * Moves the rows of removals back to their tables.
 * @returns the ids that other products already use, or that several of these removals have. If there are any, the
 * transaction must be rolled back.
 */
async function moveBack(sql: Sql, rows: readonly RemovalRow[]): Promise<string[]> {
  const removalIds = rows.map((row) => row.removal_id);
  const finalDays = await lockDays(
    sql,
    rows.flatMap((row) => row.day ?? []),
  );
  const defaults = JSON.stringify(rowOf(completeProduct({ id: '' }, new Date(0))));
  const restored = await sql.query<{ id: string }>(RESTORE_PRODUCTS, [removalIds, defaults]);
  const restoredIds = new Set(restored.map(({ id }) => id));
  if (restored.length < rows.length) {
    const taken = rows.map((row) => row.product_id).filter((id) => !restoredIds.delete(id));
    return [...new Set(taken)];
  }
  for (const statement of RESTORE_DEPENDENTS) await sql.query(statement, [removalIds]);
  const ids = [...restoredIds];
  await sql.query(UNPLACE_MOVED, [ids, finalDays]);
  const added = await countPlaced(sql, ids);
  await finalizeLateLaunches(sql, ids);
  await reviseBoards(sql, await periodsOf(sql, ids), async () => {
    await updateHistogram(sql, { added });
    // The boards may not have had the last votes yet when the products were removed.
    await refreshLaunches(sql, ids);
  });
  return [];
}
