import { PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, type ProductFieldName } from '../../contract/products/fields.ts';
import { ImportUsageError } from './import-errors.ts';

/** Columns that are never imported, because visitors' actions determine the counts. */
export const COUNT_COLUMNS: readonly string[] = ['upvotes', 'comments'];

/** The columns that the operator assigned to fields. An empty name means that the field is not read from the file. */
export type ColumnMap = ReadonlyMap<ProductFieldName, string>;

/**
 * Parses the arguments of `--map`: `field=column` or `field=`.
 * @throws ImportUsageError if an argument is malformed, or a field is unknown or repeated.
 */
export function readColumnMap(entries: readonly string[]): ColumnMap {
  const map = new Map<ProductFieldName, string>();
  for (const entry of entries) {
    const [name = '', ...rest] = entry.split('=');
    const column = rest.join('=').trim();
    if (rest.length === 0) {
      throw new ImportUsageError(
        `--map ${entry} must have the form field=column, such as name=Title, or field= to ignore its column.`,
      );
    }
    const field = PRODUCT_FIELD_NAMES.find((known) => known === name.trim());
    if (field === undefined) {
      throw new ImportUsageError(
        `--map ${entry}: '${name.trim()}' is not a field that can be set. Use one of ${PRODUCT_FIELD_NAMES.join(', ')}.`,
      );
    }
    if (map.has(field)) throw new ImportUsageError(`--map ${entry}: the field ${field} is given twice.`);
    map.set(field, column);
  }
  return map;
}

/** Maps the columns of one file to fields, and finds ignored and missing columns. */
export class FileColumns {
  readonly #fieldsByColumn = new Map<string, ProductFieldName[]>();
  readonly #map: ColumnMap;
  readonly #columns = new Set<string>();

  constructor(map: ColumnMap) {
    this.#map = map;
    const add = (column: string, field: ProductFieldName) => {
      this.#fieldsByColumn.set(column, [...(this.#fieldsByColumn.get(column) ?? []), field]);
    };
    for (const [field, column] of map) if (column !== '') add(column, field);
    for (const field of PRODUCT_FIELD_NAMES) if (!map.has(field)) add(field, field);
    // The name of the database column, such as `launch_date`, is accepted as an alias.
    for (const field of PRODUCT_FIELD_NAMES) {
      const { column } = PRODUCT_FIELDS[field];
      if (!map.has(field) && column !== field) add(column, field);
    }
  }

  addColumns(columns: readonly string[]): void {
    for (const column of columns) this.#columns.add(column);
  }

  /** Yields each field with its columns. Columns that --map names come first, aliases last. */
  *pairs(): Iterable<readonly [ProductFieldName, string]> {
    for (const [column, fields] of this.#fieldsByColumn) for (const field of fields) yield [field, column];
  }

  /** Returns two columns of the file that map to the same field, if there are any. */
  get conflict(): readonly [string, string] | undefined {
    const first = new Map<ProductFieldName, string>();
    for (const [field, column] of this.pairs()) {
      if (!this.#columns.has(column)) continue;
      const other = first.get(field);
      if (other !== undefined) return [other, column];
      first.set(field, column);
    }
    return undefined;
  }

  /** Returns the ignored columns, in the order of their appearance. */
  get ignored(): string[] {
    return [...this.#columns].filter((column) => !this.#fieldsByColumn.has(column));
  }

  get hasColumns(): boolean {
    return this.#columns.size > 0;
  }

  /** Returns whether any of these columns maps to a field of a product. */
  includesField(columns: readonly string[]): boolean {
    return columns.some((column) => this.#fieldsByColumn.has(column));
  }

  /** Checks that the file has all columns that --map names. @throws ImportUsageError if one is missing. */
  requireMappedColumns(): void {
    for (const [field, column] of this.#map) {
      if (column === '' || this.#columns.has(column)) continue;
      const present = [...this.#columns].map((name) => `'${name}'`).join(', ') || 'none';
      throw new ImportUsageError(
        `--map ${field}=${column}: the file has no column '${column}'. Its columns are ${present}.`,
      );
    }
  }
}
