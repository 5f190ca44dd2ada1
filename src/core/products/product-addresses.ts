import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, cursorOfRow, newestFirst, orderBy, upToCursor } from '../keyset.ts';

/** A product in the sitemap. */
export interface ProductAddress {
  id: string;
  /** When the product was created (ISO 8601, UTC). Times of edits are not stored. */
  createdAt: string;
}

/**
 * A range of products in the order of creation: the products after the cursor `after`, up to and including the product
 * at the cursor `upTo`. An empty cursor means the beginning or the end of the list.
 */
export interface ProductRange {
  after: string;
  upTo: string;
}

interface AddressRow {
  id: string;
  created_at: Date;
}

/**
 * The oldest products come first, so new products do not change earlier ranges. Queries in this order read the list's
 * index backwards.
 */
const ORDER = { ...newestFirst<AddressRow>('addresses', 'productId'), direction: 'ASC' as const };

/** The number of rows in memory at a time, regardless of the length of the range. */
const BATCH_ROWS = 2_000;

/**
 * Reads the products of a range in batches, but at most `limit` products, because clients can send any cursors.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function* readProductAddresses(
  sql: Sql,
  { after, upTo }: ProductRange,
  limit: number,
  now: Date,
): AsyncGenerator<ProductAddress[]> {
  let cursor = after;
  for (let left = limit; left > 0; ) {
    const size = Math.min(left, BATCH_ROWS);
    const { values, bind } = collectValues();
    const conditions = [
      `created_at <= ${bind(now.toISOString(), 'timestamptz')}`,
      ...(cursor === '' ? [] : [afterCursor(ORDER, cursor, bind)]),
      ...(upTo === '' ? [] : [upToCursor(ORDER, upTo, bind)]),
    ];
    const rows = await sql.query<AddressRow>(
      `SELECT id, created_at FROM products WHERE ${conditions.join(' AND ')} ORDER BY ${orderBy(ORDER)} LIMIT ${size}`,
      values,
    );
    yield rows.map((row) => ({ id: row.id, createdAt: row.created_at.toISOString() }));
    const last = rows.at(-1);
    if (rows.length < size || last === undefined) return;
    cursor = cursorOfRow(ORDER, last);
    left -= rows.length;
  }
}

/**
 * Divides the products that launched by `now` into ranges of `size` products; the last range may be shorter. Each range
 * has the creation time of its newest product. Scans a whole index, so callers should cache the result.
 * @throws CoreError `unavailable`.
 */
export async function splitProductRanges(
  sql: Sql,
  size: number,
  now: Date,
): Promise<(ProductRange & { newestAt: string })[]> {
  const ranges: (ProductRange & { newestAt: string })[] = [];
  let after = '';
  for (;;) {
    const end = await readOne(sql, after, now, `${orderBy(ORDER)} LIMIT 1 OFFSET ${size - 1}`);
    if (end === undefined) break;
    const upTo = cursorOfRow(ORDER, end);
    ranges.push({ after, upTo, newestAt: end.created_at.toISOString() });
    after = upTo;
  }
  const newest = await readOne(sql, after, now, 'created_at DESC, id DESC LIMIT 1');
  if (newest !== undefined) ranges.push({ after, upTo: '', newestAt: newest.created_at.toISOString() });
  // The last range has no end, so it includes products that are added later.
  return ranges.map((range, index) => (index === ranges.length - 1 ? { ...range, upTo: '' } : range));
}

/** Reads one product after the cursor. @param ending what follows `ORDER BY`: the order, the limit and any offset. */
async function readOne(sql: Sql, after: string, now: Date, ending: string): Promise<AddressRow | undefined> {
  const { values, bind } = collectValues();
  const [row] = await sql.query<AddressRow>(
    `SELECT id, created_at FROM products WHERE created_at <= ${bind(now.toISOString(), 'timestamptz')}
       ${after === '' ? '' : `AND ${afterCursor(ORDER, after, bind)}`}
     ORDER BY ${ending}`,
    values,
  );
  return row;
}
