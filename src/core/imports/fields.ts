import { PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, type ProductFieldName } from '../../contract/products/fields.ts';
import { ImportUsageError } from './import-faults.ts';

/** Counted from visitors' actions, and never imported. */
export const COUNT_COLUMNS: readonly string[] = ['upvotes', 'comments'];

/** The columns that the operator named for fields; an empty name means that no column has the field. */
export type ColumnMap = ReadonlyMap<ProductFieldName, string>;

/** Reads `field=column` and `field=` texts. @throws ImportUsageError if one is malformed, or names an unknown field or one twice. */
export function readColumnMap(texts: readonly string[]): ColumnMap {
  const map = new Map<ProductFieldName, string>();
  for (const text of texts) {
    const [name = '', ...rest] = text.split('=');
    const column = rest.join('=').trim();
    if (rest.length === 0) {
      throw new ImportUsageError(
        `--map ${text}: it must look like field=column, such as name=Title, or field= to ignore its column`,
      );
    }
    const field = PRODUCT_FIELD_NAMES.find((known) => known === name.trim());
    if (field === undefined) {
      throw new ImportUsageError(
        `--map ${text}: a product has no field '${name.trim()}' that can be set; it must be one of ${PRODUCT_FIELD_NAMES.join(', ')}`,
      );
    }
    if (map.has(field)) throw new ImportUsageError(`--map ${text}: the field ${field} is named twice`);
    map.set(field, column);
  }
  return map;
}

/** The columns of one file: the field of each, unknown ones, and requested ones that are missing. */
export class FileColumns {
  readonly #fieldsByColumn = new Map<string, ProductFieldName[]>();
  readonly #wanted: ColumnMap;
  readonly #seen = new Set<string>();

  constructor(map: ColumnMap) {
    this.#wanted = map;
    const add = (column: string, field: ProductFieldName) => {
      this.#fieldsByColumn.set(column, [...(this.#fieldsByColumn.get(column) ?? []), field]);
    };
    for (const [field, column] of map) if (column !== '') add(column, field);
    for (const field of PRODUCT_FIELD_NAMES) if (!map.has(field)) add(field, field);
    // The column of the table is an alias, such as `launch_date`.
    for (const field of PRODUCT_FIELD_NAMES) {
      const { column } = PRODUCT_FIELDS[field];
      if (!map.has(field) && column !== field) add(column, field);
    }
  }

  see(columns: readonly string[]): void {
    for (const column of columns) this.#seen.add(column);
  }

  /** Every field with its column, the one with the field's own name first. */
  *pairs(): Iterable<readonly [ProductFieldName, string]> {
    for (const [column, fields] of this.#fieldsByColumn) for (const field of fields) yield [field, column];
  }

  /** The first two columns found for the same field. */
  get rivals(): readonly [string, string] | undefined {
    const first = new Map<ProductFieldName, string>();
    for (const [field, column] of this.pairs()) {
      if (!this.#seen.has(column)) continue;
      const other = first.get(field);
      if (other !== undefined) return [other, column];
      first.set(field, column);
    }
    return undefined;
  }

  /** Ignored columns, in order of appearance. */
  get ignored(): string[] {
    return [...this.#seen].filter((column) => !this.#fieldsByColumn.has(column));
  }

  get hasSeenAny(): boolean {
    return this.#seen.size > 0;
  }

  /** Whether any of these columns is a field of a product. */
  areFields(columns: readonly string[]): boolean {
    return columns.some((column) => this.#fieldsByColumn.has(column));
  }

  /** @throws ImportUsageError if no row has a requested column. */
  refuseMissing(): void {
    for (const [field, column] of this.#wanted) {
      if (column === '' || this.#seen.has(column)) continue;
      const there = [...this.#seen].map((name) => `'${name}'`).join(', ') || 'none';
      throw new ImportUsageError(`--map ${field}=${column}: the file has no column '${column}'; there are ${there}`);
    }
  }
}
