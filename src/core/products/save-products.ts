import { createHash } from 'node:crypto';
import { fieldOf, PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../contract/products/fields.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import { isVisible } from '../../contract/text.ts';
import { recordChange } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { foldText, searchTextOf } from '../search-text.ts';
import { FIELD_COLUMNS } from './product-row.ts';
import { searchGramsOf } from './search-grams.ts';

/** A product from an import or from the sample catalogue, of which only the id is required. */
export type PartialProduct = Pick<StoredProduct, 'id'> & {
  [Field in Exclude<ProductFieldName, 'id'>]?: StoredProduct[Field] | undefined;
};

/**
 * Trims texts, and sets missing and invisible ones to their declared defaults. A missing `createdAt` is set to `now`.
 */
export function completeProduct(partial: PartialProduct, now: Date): StoredProduct {
  const complete = (name: ProductFieldName) => {
    const { kind, default: fallback } = fieldOf(name);
    const value = partial[name];
    if (fallback !== undefined) return typeof value === 'string' && isVisible(value) ? value.trim() : fallback;
    return value ?? (kind === 'time' ? now.toISOString() : []);
  };
  return Object.fromEntries(PRODUCT_FIELD_NAMES.map((name) => [name, complete(name)])) as StoredProduct;
}

/** Returns the fields of a product that depend on its launch time. `timeZone` is the value of SITE_TIME_ZONE. */
export function launchOf(time: Date, timeZone: string): Pick<StoredProduct, 'launchDate' | 'createdAt'> {
  return { launchDate: time.toLocaleDateString('en', { dateStyle: 'long', timeZone }), createdAt: time.toISOString() };
}

/** At any moment, the date in any time zone is also the date in one of these zones. */
export const ZONES_OF_ALL_DATES = ['Etc/GMT+12', 'UTC', 'Etc/GMT-14'];

/**
 * Returns whether the launch date of a product is the day of its launch, not a text that an operator set. All time zones
 * are tried, because SITE_TIME_ZONE may have changed.
 */
export function hasDayOfLaunch({ launchDate, createdAt }: Pick<StoredProduct, 'launchDate' | 'createdAt'>): boolean {
  return ZONES_OF_ALL_DATES.some((zone) => launchOf(new Date(createdAt), zone).launchDate === launchDate);
}

/**
 * Returns a product with another launch time. Its launch date becomes the day of the new time, unless an operator set a
 * launch date other than the day of the previous time.
 */
export function withLaunchTime<Launched extends Pick<StoredProduct, 'launchDate' | 'createdAt'>>(
  product: Launched,
  time: Date,
  timeZone: string,
): Launched {
  if (Date.parse(product.createdAt) === time.getTime()) return product;
  const { launchDate, createdAt } = launchOf(time, timeZone);
  return { ...product, createdAt, ...(hasDayOfLaunch(product) && { launchDate }) };
}

interface Reversal {
  /** When the change that is being reverted was made. */
  changedAt: Date;
  /** The product before the reversal. Unset if it was removed. */
  current?: Pick<StoredProduct, 'createdAt'>;
  now: Date;
  timeZone: string;
}

/**
 * Returns the product to store when a change is reverted: the product `before` the change. If the change prevented a
 * launch whose time has passed, the product launches now, because at the original time, its launch window would be
 * shorter or over.
 */
export function withMissedLaunch<Launched extends Pick<StoredProduct, 'launchDate' | 'createdAt'>>(
  before: Launched,
  { changedAt, current, now, timeZone }: Reversal,
): Launched {
  const launchAt = new Date(before.createdAt);
  const hasLaunched = launchAt <= changedAt || (current !== undefined && new Date(current.createdAt) <= now);
  return hasLaunched || launchAt > now ? before : withLaunchTime(before, now, timeZone);
}

/**
 * Returns a hash of the fields of a product, without its counts, to detect changes. Fields with their defaults are left
 * out, so stored versions stay valid when a new version of the site adds a field.
 */
export function versionOf(product: StoredProduct): string {
  const fields = PRODUCT_FIELD_NAMES.flatMap((name) => {
    const value =
      name === 'team' ? product.team.map(({ name: member, role, avatar }) => [member, role, avatar]) : product[name];
    const isDefault = typeof value === 'string' ? value === fieldOf(name).default : value.length === 0;
    return isDefault ? [] : [[name, value]];
  });
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url').slice(0, 22);
}

/** The columns of the fields, and the derived columns for searches. */
const COLUMNS = [
  ...FIELD_COLUMNS,
  { column: 'search_text', sqlType: 'text' },
  { column: 'tag_keys', sqlType: 'text[]' },
  { column: 'search_grams', sqlType: 'integer[]' },
];
const COLUMN_LIST = COLUMNS.map(({ column }) => column).join(', ');
const COLUMN_DEFINITIONS = COLUMNS.map(({ column, sqlType }) => `${column} ${sqlType}`).join(', ');
/** Leaves out the id, because updating the key would lock the row against new upvotes and comments until the commit. */
const ASSIGNMENTS = COLUMNS.filter(({ column }) => column !== 'id')
  .map(({ column }) => `${column} = EXCLUDED.${column}`)
  .join(', ');

const INSERT = `INSERT INTO products (${COLUMN_LIST})
  SELECT ${COLUMN_LIST} FROM jsonb_to_recordset($1::jsonb) AS row (${COLUMN_DEFINITIONS})`;

// Locks only launches whose time changes, so boards can be updated during an import. Locks no counts, so voters never
// wait.
const UPSERT_PRODUCTS = `WITH saved AS (
  ${INSERT}
  ON CONFLICT (id) DO UPDATE SET ${ASSIGNMENTS}
  RETURNING id, created_at
), counts AS (
  INSERT INTO product_counts (product_id, window_from) SELECT id, created_at FROM saved ON CONFLICT (product_id) DO NOTHING
), launched AS (
  INSERT INTO launches (product_id, launched_at) SELECT id, created_at FROM saved ON CONFLICT (product_id) DO NOTHING
)
UPDATE launches SET launched_at = saved.created_at FROM saved
WHERE launches.product_id = saved.id AND launches.launched_at <> saved.created_at AND NOT launches.final`;

// Has no `ON CONFLICT` clauses, because new products have no counts and no launches yet.
const INSERT_PRODUCTS = `WITH saved AS (
  ${INSERT}
  RETURNING id, created_at
), counts AS (
  INSERT INTO product_counts (product_id, window_from) SELECT id, created_at FROM saved
)
INSERT INTO launches (product_id, launched_at) SELECT id, created_at FROM saved`;

/**
 * Inserts or updates products by id. Existing upvotes and comments are preserved. The ids must be distinct. The caller
 * must record the change at the end of its transaction.
 * @throws CoreError `unavailable`.
 */
export async function writeProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  await upsertProducts(sql, products);
  await moveWindows(
    sql,
    products.map(({ id }) => id),
  );
}

/** Like `writeProducts`, but the caller must call `moveWindows` at the end of its transaction. */
export async function upsertProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  if (products.length > 0) await sql.query(UPSERT_PRODUCTS, [JSON.stringify(products.map(rowOf))]);
}

const SELECT_MOVED = `SELECT l.product_id FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.product_id = ANY($1::text[]) AND l.placed_for IS NULL
    AND c.window_from > transaction_timestamp() AND c.window_from <> l.launched_at`;

const MOVE_WINDOWS = `UPDATE product_counts c SET window_from = l.launched_at FROM launches l
  WHERE c.product_id = ANY($1::text[]) AND l.product_id = c.product_id`;

/**
 * Moves the windows of launches that had not begun when the transaction started. Votes are then accepted from the new
 * launch times on. The board updater moves the other windows. The transaction must commit soon, because voters wait for
 * the locked counts if a previous launch time passes in the meantime.
 */
export async function moveWindows(sql: Sql, productIds: readonly string[]): Promise<void> {
  if (productIds.length === 0) return;
  const moved = await sql.query<{ product_id: string }>(SELECT_MOVED, [productIds]);
  if (moved.length === 0) return;
  const ids = moved.map((row) => row.product_id);
  await lockCounts(sql, ids);
  await sql.query(MOVE_WINDOWS, [ids]);
}

const SELECT_SCHEDULED_RESULTS = `SELECT l.product_id AS id
  FROM unnest($1::text[], $2::timestamptz[]) AS moved (id, created_at) JOIN launches l ON l.product_id = moved.id
  WHERE l.final AND moved.created_at > statement_timestamp()`;

/**
 * Returns the products that must not get their new times: they would be scheduled although their results are final, so
 * the leaderboards would show their names before their launches. After `writeProducts`, the results of the other
 * products cannot become final before the transaction ends.
 */
export async function findUnschedulable<Moved extends Pick<StoredProduct, 'id' | 'createdAt'>>(
  sql: Sql,
  moved: readonly Moved[],
): Promise<Moved[]> {
  if (moved.length === 0) return [];
  const rows = await sql.query<{ id: string }>(SELECT_SCHEDULED_RESULTS, [
    moved.map(({ id }) => id),
    moved.map(({ createdAt }) => createdAt),
  ]);
  const ids = new Set(rows.map(({ id }) => id));
  return moved.filter(({ id }) => ids.has(id));
}

/** Returns the reason to report for a product that `findUnschedulable` returns. */
export function scheduledResultReason(id: string): string {
  return `the result of '${id}' is final, so the product cannot be scheduled. Choose a time that has passed, or schedule a new product`;
}

/**
 * Inserts products like `writeProducts`, but does not overwrite a product that was created in the meantime.
 * @throws DatabaseError (unique violation) if an id exists; CoreError `unavailable`.
 */
export async function insertProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  if (products.length > 0) await sql.query(INSERT_PRODUCTS, [JSON.stringify(products.map(rowOf))]);
}

/** Returns the row that `writeProducts` stores, by column. */
export function rowOf(product: StoredProduct): Record<string, unknown> {
  const searchText = searchTextOf(product);
  return {
    ...Object.fromEntries(FIELD_COLUMNS.map(({ name, column }) => [column, product[name]])),
    search_text: searchText,
    tag_keys: [...new Set(product.tags.map(foldText))],
    search_grams: searchGramsOf(searchText),
  };
}

/** Writes products like `writeProducts`, and records the change. @throws CoreError `unavailable`. */
export async function saveProducts(sql: Sql, products: readonly StoredProduct[]): Promise<void> {
  await writeProducts(sql, products);
  await recordChange(sql, { productIds: products.map((product) => product.id), catalogue: true });
}

/** If more products than this were written, the table sizes that the planner knows are updated. */
const LARGE_WRITE_PRODUCTS = 1_000;

// One column per table suffices to update its size, and takes half a second with 300,000 products. `SKIP_LOCKED`
// prevents a deadlock with a concurrent build of an index, which waits for all transactions. Such a build, or a VACUUM,
// updates the sizes as well.
const UPDATE_SIZES = 'ANALYZE (SKIP_LOCKED) products (id), product_counts (product_id), launches (product_id)';

/**
 * After many products were written, updates the table sizes that the planner knows, so statements that were prepared
 * for smaller tables are planned again. Must be called after the commit, because a recorded change must be committed
 * soon.
 */
export async function updateSizes(database: Database, written: number): Promise<void> {
  if (written <= LARGE_WRITE_PRODUCTS) return;
  await database.query(UPDATE_SIZES).catch(() => {
    // The error is ignored, because the products have been written, and autovacuum updates the sizes within minutes.
  });
}
