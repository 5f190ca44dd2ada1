import type { Sql } from '../database/database.ts';
import { afterCursor, cursorBehind, type KeysetOrder, orderBy, upToCursor } from '../keyset.ts';

/** What a sitemap says about a product. */
export interface ProductAddress {
  id: string;
  /** ISO 8601, UTC: when the product came; nothing notes when it was described anew. */
  createdAt: string;
}

/** A stretch of all products, oldest first: behind the cursor `after`, up to `upTo`; empty: from the beginning, to the end. */
export interface ProductStretch {
  after: string;
  upTo: string;
}

interface AddressRow {
  id: string;
  created_at: Date;
}

/** The index of the list read backwards: what is new comes last, and leaves the stretches before it as they are. */
const ORDER: KeysetOrder<AddressRow> = {
  name: 'addresses',
  direction: 'ASC',
  columns: [
    { sql: 'created_at', kind: 'time', keyOf: (row) => row.created_at.toISOString() },
    { sql: 'id', kind: 'productId', keyOf: (row) => row.id },
  ],
};

/** Rows in memory at a time, however long a stretch is. */
const BATCH_ROWS = 2_000;

/**
 * Reads the products of a stretch, in batches by keyset; `limit` of them at most, whatever the cursors say.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function* readProductAddresses(
  sql: Sql,
  { after, upTo }: ProductStretch,
  limit: number,
): AsyncGenerator<ProductAddress[]> {
  let cursor = after;
  for (let left = limit; left > 0; ) {
    const size = Math.min(left, BATCH_ROWS);
    const values: unknown[] = [];
    const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
    const conditions = [
      cursor === '' ? 'true' : afterCursor(ORDER, cursor, bind),
      upTo === '' ? 'true' : upToCursor(ORDER, upTo, bind),
    ];
    const rows = await sql.query<AddressRow>(
      `SELECT id, created_at FROM products WHERE ${conditions.join(' AND ')} ORDER BY ${orderBy(ORDER)} LIMIT ${size}`,
      values,
    );
    yield rows.map((row) => ({ id: row.id, createdAt: row.created_at.toISOString() }));
    const last = rows.at(-1);
    if (rows.length < size || last === undefined) return;
    cursor = cursorOf(last);
    left -= rows.length;
  }
}

/**
 * Cuts all products into stretches of `size` (the last one shorter) and says when the newest product of each came. It walks
 * an index from end to end and reads no row of the table: for one who keeps the answer, not for each request.
 * @throws CoreError `unavailable`.
 */
export async function cutProductStretches(sql: Sql, size: number): Promise<(ProductStretch & { newestAt: string })[]> {
  const stretches: (ProductStretch & { newestAt: string })[] = [];
  let after = '';
  for (;;) {
    const end = await lastOfStretch(sql, after, size);
    if (end === undefined) break;
    const upTo = cursorOf(end);
    stretches.push({ after, upTo, newestAt: end.created_at.toISOString() });
    after = upTo;
  }
  const newest = await newestAfter(sql, after);
  if (newest !== undefined) stretches.push({ after, upTo: '', newestAt: newest.created_at.toISOString() });
  // What comes later belongs to the last stretch.
  return stretches.map((stretch, index) => (index === stretches.length - 1 ? { ...stretch, upTo: '' } : stretch));
}

async function lastOfStretch(sql: Sql, after: string, size: number): Promise<AddressRow | undefined> {
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const [row] = await sql.query<AddressRow>(
    `SELECT id, created_at FROM products ${after === '' ? '' : `WHERE ${afterCursor(ORDER, after, bind)}`}
     ORDER BY ${orderBy(ORDER)} LIMIT 1 OFFSET ${size - 1}`,
    values,
  );
  return row;
}

async function newestAfter(sql: Sql, after: string): Promise<AddressRow | undefined> {
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const [row] = await sql.query<AddressRow>(
    `SELECT id, created_at FROM products ${after === '' ? '' : `WHERE ${afterCursor(ORDER, after, bind)}`}
     ORDER BY created_at DESC, id DESC LIMIT 1`,
    values,
  );
  return row;
}

function cursorOf(row: AddressRow): string {
  return cursorBehind(
    ORDER,
    ORDER.columns.map((column) => column.keyOf(row)),
  );
}
