import type { Product, StoredProduct } from '../../contract/products/schema.ts';
import { MAKER_BADGE } from '../../contract/submissions/limits.ts';
import { recordChange } from '../changes/change-feed.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import { isUniqueViolation } from '../database/database-errors.ts';
import { lockDaysOf } from '../leaderboards/final-boards.ts';
import { lockProduct } from '../products/product-row.ts';
import { deleteProducts } from '../products/remove-products.ts';
import {
  insertProducts,
  saveProducts,
  versionOf,
  withLaunchTime,
  ZONES_OF_ALL_DATES,
} from '../products/save-products.ts';
import type { Runtime } from '../runtime.ts';
import { productOfFields, type SubmissionRow } from './submission-row.ts';

/** The current time and the time zone for decisions and edits. */
export interface LaunchRules {
  readonly now: Date;
  /** The time zone in which the launch date is shown. */
  timeZone: string;
}

/** Returns rules whose time advances, because a product may launch while an operation waits for its lock. */
export function launchRules({ now }: Pick<Runtime, 'now'>, timeZone: string): LaunchRules {
  return {
    get now() {
      return now();
    },
    timeZone,
  };
}

/** Returns the requested launch time, or now if it is unset or has passed. */
export function launchTime(requested: Date | null, now: Date): Date {
  return requested !== null && requested.getTime() > now.getTime() ? requested : now;
}

/** Adds the product of a submission to the site. @throws CoreError `id_taken` if another product has its id. */
export async function createProduct(sql: Sql, product: StoredProduct): Promise<void> {
  const { id } = product;
  try {
    await insertProducts(sql, [product]);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new CoreError(
      'id_taken',
      `A product with the id '${id}' already exists, so the product of this submission cannot be added. If that product is not needed, remove it first with \`groundswell products remove ${id}\`.`,
    );
  }
  await recordChange(sql, { productIds: [id], catalogue: true });
}

/**
 * Moves the launch of a product that has not launched yet. Operators' edits to the product are preserved, including a
 * launch date that is not the day of the launch.
 * @returns the product before the change. @throws CoreError `already_launched`.
 */
export async function moveLaunch(sql: Sql, id: string, launchAt: Date, rules: LaunchRules): Promise<Product> {
  const product = await lockScheduled(sql, id, rules);
  await saveProducts(sql, [withLaunchTime(product, launchAt, rules.timeZone)]);
  return product;
}

/**
 * Locks a product that has not launched yet.
 * @returns the product, with operators' edits. @throws CoreError `already_launched`, also if the product was removed.
 */
export async function lockScheduled(sql: Sql, id: string, rules: LaunchRules): Promise<Product> {
  return (await lockUnlaunched(sql, id, rules)) ?? throwRemoved();
}

/**
 * Removes a product that has not launched yet from the site.
 * @returns the product, with operators' edits, or undefined if it was already removed.
 * @throws CoreError `already_launched`, also if the product has votes or comments from before its postponement.
 */
export async function cancelLaunch(sql: Sql, id: string, rules: LaunchRules): Promise<Product | undefined> {
  const product = await lockUnlaunched(sql, id, rules);
  if (product === undefined) return undefined;
  // Unlike a removal, the deletion does not store votes and comments, so undoing a decline could not restore them.
  if (await hasVotesOrComments(sql, id)) throw votesOrCommentsExist(id);
  await deleteProduct(sql, id);
  return product;
}

/** Locks a product, then its day and its counts, as `deleteProducts` requires. */
async function lockLaunch(sql: Sql, id: string): Promise<Product | undefined> {
  const product = await lockProduct(sql, id);
  await lockDaysOf(sql, [id]);
  await lockCounts(sql, [id]);
  return product;
}

async function lockUnlaunched(sql: Sql, id: string, rules: LaunchRules): Promise<Product | undefined> {
  const product = await lockLaunch(sql, id);
  if (product === undefined || (await isRemoved(sql, id))) return undefined;
  // Reads the time after locking, because the product may have launched in the meantime.
  if (Date.parse(product.createdAt) <= rules.now.getTime()) throw alreadyLaunched();
  return product;
}

/**
 * Removes the product of an approved submission from the site, whether or not it has launched, as if the submission had
 * never been approved.
 * @returns whether the product had launched, or false if it was already removed.
 * @throws CoreError `already_launched` if the product has votes, or comments by anyone but the maker; `already_decided`
 * if the product differs from the submission, because it was edited, imported or launched late.
 */
export async function revokeLaunch(sql: Sql, row: SubmissionRow, rules: LaunchRules): Promise<boolean> {
  const { id } = row;
  const product = await lockLaunch(sql, id);
  if (product === undefined) return false;
  const launch = await readLaunch(sql, id);
  if (launch?.has_votes || launch?.has_comments_by_others) throw votesOrCommentsExist(id);
  // The product may have been approved in another time zone, so its launch date may differ by a day.
  const approved = ZONES_OF_ALL_DATES.map((zone) => productOfFields(id, row.fields, row.launch_at ?? rules.now, zone));
  if (!approved.map(versionOf).includes(versionOf(product))) {
    throw new CoreError(
      'already_decided',
      `The approval of '${id}' cannot be undone, because its product or the launch time has changed since. Revert the change first, or remove the product with \`groundswell products remove ${id}\`.`,
    );
  }
  await deleteProduct(sql, id);
  return Date.parse(product.createdAt) <= rules.now.getTime();
}

interface Launch {
  created_at: Date;
  has_votes: boolean;
  has_comments: boolean;
  /** Whether anyone except the maker commented. */
  has_comments_by_others: boolean;
}

const SELECT_LAUNCH = `SELECT p.created_at,
    EXISTS (SELECT FROM upvotes u WHERE u.product_id = $1)
      OR EXISTS (SELECT FROM retracted_upvotes r WHERE r.product_id = $1)
      OR EXISTS (SELECT FROM tally_parts t WHERE t.product_id = $1) AS has_votes,
    EXISTS (SELECT FROM comments c WHERE c.product_id = $1) AS has_comments,
    EXISTS (SELECT FROM comments c WHERE c.product_id = $1 AND c.author_badge IS DISTINCT FROM '${MAKER_BADGE}')
      AS has_comments_by_others
  FROM products p WHERE p.id = $1`;

async function readLaunch(sql: Sql, id: string): Promise<Launch | undefined> {
  return (await sql.query<Launch>(SELECT_LAUNCH, [id]))[0];
}

/** Returns whether a product has votes or comments, including comments by its maker. */
export async function hasVotesOrComments(sql: Sql, id: string): Promise<boolean> {
  const launch = await readLaunch(sql, id);
  return launch !== undefined && (launch.has_votes || launch.has_comments);
}

/**
 * Checks that the product of an approved submission has not launched. Also refuses a removed product, which an operator
 * may restore, and a product with votes or comments, which was postponed after its launch.
 * @throws CoreError `already_launched`.
 */
export async function requireScheduled(sql: Sql, { id, status }: SubmissionRow, now: Date): Promise<void> {
  if (status !== 'approved') return;
  const launch = await readLaunch(sql, id);
  if (launch === undefined || (await isRemoved(sql, id))) throwRemoved();
  const hasLaunched = launch.has_votes || launch.has_comments || launch.created_at.getTime() <= now.getTime();
  if (hasLaunched) throw alreadyLaunched();
}

// Declining a scheduled submission removes its product, like `products remove`, and undoing the decline restores it.
const SELECT_ENTRIES = `SELECT id, action, target, undoes FROM audit_log
  WHERE target = ANY($1::text[]) AND action IN ('submissions approve', 'submissions schedule', 'submissions decline',
    'submissions undo', 'products remove', 'products restore')
  ORDER BY created_at`;

interface AuditRow {
  id: string;
  action: string;
  target: string;
  undoes: string | null;
}

/**
 * Finds approved submissions whose products were removed and not restored. Any product that has the id of such a
 * submission now was imported after the removal, and does not belong to the submission's maker.
 * @returns the ids of these submissions. @throws CoreError `unavailable`.
 */
export async function findRemoved(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // The entries that removed the products from the site, by product id. The first entry stays, because later removals
  // concern other products with the same id.
  const removals = new Map<string, string>();
  for (const { id, action, target, undoes } of await sql.query<AuditRow>(SELECT_ENTRIES, [ids])) {
    const removal = removals.get(target);
    switch (action) {
      case 'submissions approve':
      case 'submissions schedule':
        removals.delete(target);
        break;
      case 'submissions undo':
      case 'products restore':
        if (undoes === removal) removals.delete(target);
        break;
      default:
        removals.set(target, removal ?? id);
    }
  }
  return new Set(removals.keys());
}

/** Returns whether the product of an approved submission was removed and not restored; see `findRemoved`. */
async function isRemoved(sql: Sql, id: string): Promise<boolean> {
  return (await findRemoved(sql, [id])).has(id);
}

async function deleteProduct(sql: Sql, id: string): Promise<void> {
  await deleteProducts(sql, [id]);
  await recordChange(sql, { productIds: [id], catalogue: true });
}

function votesOrCommentsExist(id: string): CoreError {
  return new CoreError(
    'already_launched',
    `'${id}' already has votes or comments. Remove it with \`groundswell products remove ${id}\`.`,
  );
}

function alreadyLaunched(): CoreError {
  return new CoreError('already_launched', 'The product has launched and can no longer be changed.');
}

function throwRemoved(): never {
  throw new CoreError('already_launched', 'The product was removed from the site and can no longer be changed.');
}
