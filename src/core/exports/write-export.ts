import { isDeepStrictEqual } from 'node:util';
import { CommentSchema } from '../../contract/comments/schema.ts';
import { PRODUCT_FIELD_NAMES } from '../../contract/products/fields.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from '../comments/comment-row.ts';
import type { Database } from '../database/database.ts';
import { readInBatches, readSnapshot } from '../database/transactions.ts';
import type { FileKind } from '../imports/check-file.ts';
import { DEFAULT_SEPARATOR, splitList } from '../imports/read-values.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { NO_FIELDS } from '../submissions/submission-fields.ts';
import type { SubmissionRow } from '../submissions/submission-row.ts';

export const EXPORT_TABLES = ['products', 'upvotes', 'comments', 'submissions'] as const;

export type ExportTable = (typeof EXPORT_TABLES)[number];

export interface ExportOptions {
  table: ExportTable;
  kind: FileKind;
  /** Whether to export the numbers of upvotes and comments of products. */
  counts: boolean;
  /** Writes the next part of the file. The next rows are read after the promise has resolved. */
  write(part: string): Promise<void>;
  onRows?: ((count: number) => void) | undefined;
}

interface UpvoteRow {
  id: string;
  product_id: string;
  created_at: Date;
}

interface Source {
  fields: readonly string[];
  select: string;
  /** Returns the exported fields of a row from the driver. */
  valuesOf(row: never): ExportedRow;
}

const UPVOTE_FIELDS = ['id', 'productId', 'createdAt'];
const COMMENT_FIELDS = [...Object.keys(CommentSchema.properties), 'state'];

const SUBMISSION_FIELDS = [
  ...['id', 'status', 'reason', 'launchAt'],
  ...Object.keys(NO_FIELDS),
  ...['createdAt', 'updatedAt', 'decidedAt'],
];

/**
 * The fields and the query of each export. No field identifies a visitor. Rows are sorted by stored values, so the same
 * rows always have the same order.
 */
const SOURCES: Record<ExportTable, Source> = {
  products: {
    fields: PRODUCT_FIELD_NAMES,
    select: `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id ORDER BY p.id`,
    valuesOf: (row: ProductRow) => ({ ...productOf(row) }),
  },
  upvotes: {
    fields: UPVOTE_FIELDS,
    select: 'SELECT id, product_id, created_at FROM upvotes ORDER BY product_id, user_session',
    valuesOf: (row: UpvoteRow) => ({
      id: row.id,
      productId: row.product_id,
      createdAt: row.created_at.toISOString(),
    }),
  },
  comments: {
    fields: COMMENT_FIELDS,
    select: `SELECT ${COMMENT_COLUMNS}, CASE WHEN hidden_at IS NOT NULL THEN 'hidden' WHEN held_session IS NOT NULL THEN 'held'
      ELSE 'public' END AS state FROM comments ORDER BY product_id, id`,
    valuesOf: (row: CommentRow & { state: string }) => ({ ...commentOf(row), state: row.state }),
  },
  submissions: {
    fields: SUBMISSION_FIELDS,
    select: `SELECT id, status, reason, launch_at, fields, created_at, updated_at, decided_at FROM submissions ORDER BY id`,
    valuesOf: (row: SubmissionRow) => ({
      id: row.id,
      status: row.status,
      reason: row.reason,
      launchAt: row.launch_at?.toISOString() ?? null,
      // Older submissions lack fields that were added to products later.
      ...NO_FIELDS,
      ...row.fields,
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
      decidedAt: row.decided_at?.toISOString() ?? null,
    }),
  },
};

/**
 * Writes a snapshot of a table as CSV, JSON or JSON Lines, while the site runs. Identical rows produce identical bytes.
 * `database` must have no statement timeout.
 * @returns the number of rows.
 * @throws CoreError `unavailable`, the error of `write`, or an Error if the database's role may not read all rows.
 */
export async function writeExport(database: Database, options: ExportOptions): Promise<number> {
  const { table, kind, counts, write, onRows } = options;
  const { fields, select, valuesOf } = SOURCES[table];
  const isProducts = table === 'products';
  const encoder = encoderFor(kind, counts && isProducts ? [...fields, 'upvotes', 'comments'] : fields, isProducts);
  return readSnapshot(database, async (sql) => {
    let count = 0;
    await write(encoder.start);
    for await (const rows of readInBatches<never>(sql, select)) {
      await write(rows.map((row, index) => encoder.row(valuesOf(row), count + index)).join(''));
      count += rows.length;
      onRows?.(rows.length);
    }
    await write(encoder.end);
    return count;
  });
}

/** The values of a row by field: strings, numbers, null, lists of strings, and lists of objects. */
type ExportedRow = Readonly<Record<string, unknown>>;

/** The parts of a file: `start`, each row with its zero-based index, and `end`. */
interface Encoder {
  start: string;
  row(values: ExportedRow, index: number): string;
  end: string;
}

/** Matches the position before a cell that spreadsheets would run as a formula. */
const FORMULA_START = /^(?=[=+\-@＝＋－＠\t\r\n])/;

/**
 * Creates an encoder for these fields, in order. CSV follows RFC 4180, but with line feeds; JSON has one item per line.
 * Importable files contain the exact values. In other CSV files, a `'` before a formula makes spreadsheets show it as
 * text.
 */
function encoderFor(kind: FileKind, fields: readonly string[], isImportable: boolean): Encoder {
  const cell = (value: unknown) => (isImportable ? cellText(value) : cellText(value).replace(FORMULA_START, "'"));
  const json = (values: ExportedRow) =>
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, values[field]])));
  switch (kind) {
    case 'json':
      return { start: '[', row: (values, index) => `${index === 0 ? '' : ','}\n${json(values)}`, end: '\n]\n' };
    case 'json-lines':
      return { start: '', row: (values) => `${json(values)}\n`, end: '' };
    case 'csv':
      return {
        start: `${fields.join(',')}\n`,
        row: (values) => `${fields.map((field) => quoted(cell(values[field]))).join(',')}\n`,
        end: '',
      };
  }
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellText(value: unknown): string {
  if (value === null) return '';
  if (!Array.isArray(value)) return String(value);
  return listText(value);
}

/**
 * Joins a list with commas if an import would parse the same list from the result; otherwise formats it as a JSON
 * array.
 */
function listText(list: readonly unknown[]): string {
  const isPlain = list.every((item) => typeof item === 'string' && !item.includes(DEFAULT_SEPARATOR));
  const text = list.join(DEFAULT_SEPARATOR);
  return isPlain && isDeepStrictEqual(splitList(text), list) ? text : JSON.stringify(list);
}
