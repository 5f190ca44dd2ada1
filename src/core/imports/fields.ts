import type { StoredProduct } from '../products/complete-product.ts';
import { ImportUsageError } from './import-faults.ts';

/** A field of a product that a file may bring: every one that is kept. */
export type ImportField = keyof StoredProduct;

// An object, since the compiler then names a field that is missing.
const FIELDS: Readonly<Record<ImportField, true>> = {
  id: true,
  name: true,
  description: true,
  image: true,
  tags: true,
  category: true,
  maker: true,
  launchDate: true,
  team: true,
  screenshots: true,
  createdAt: true,
};

export const IMPORT_FIELDS = Object.keys(FIELDS) as readonly ImportField[];

/** Counted from what visitors did, and never set. */
export const COUNT_COLUMNS: readonly string[] = ['upvotes', 'comments'];

/** As the columns of the table are called. */
const ALIASES: ReadonlyMap<string, ImportField> = new Map([
  ['launch_date', 'launchDate'],
  ['created_at', 'createdAt'],
]);

/** Which column a field is taken from, for the fields that the operator named. */
export type ColumnMap = ReadonlyMap<ImportField, string>;

/** Reads `field=column` texts. @throws ImportUsageError where one is none, or names an unknown field or one twice. */
export function readColumnMap(texts: readonly string[]): ColumnMap {
  const map = new Map<ImportField, string>();
  for (const text of texts) {
    const [name = '', ...rest] = text.split('=');
    const column = rest.join('=').trim();
    if (rest.length === 0 || column === '') {
      throw new ImportUsageError(`--map ${text}: it must look like field=column, such as name=Title`);
    }
    const field = IMPORT_FIELDS.find((known) => known === name.trim());
    if (field === undefined) {
      throw new ImportUsageError(
        `--map ${text}: a product has no field '${name.trim()}' that can be set; there are ${IMPORT_FIELDS.join(', ')}`,
      );
    }
    if (map.has(field)) throw new ImportUsageError(`--map ${text}: the field ${field} is named twice`);
    map.set(field, column);
  }
  return map;
}

/** The columns of one file: which field each is, which are unknown, and which were asked for and never came. */
export class FileColumns {
  readonly #fieldsByColumn = new Map<string, ImportField[]>();
  readonly #wanted: ColumnMap;
  readonly #seen = new Set<string>();

  constructor(map: ColumnMap) {
    this.#wanted = map;
    const add = (column: string, field: ImportField) => {
      this.#fieldsByColumn.set(column, [...(this.#fieldsByColumn.get(column) ?? []), field]);
    };
    for (const [field, column] of map) add(column, field);
    for (const field of IMPORT_FIELDS) if (!map.has(field)) add(field, field);
    for (const [alias, field] of ALIASES) if (!map.has(field)) add(alias, field);
  }

  see(columns: readonly string[]): void {
    for (const column of columns) this.#seen.add(column);
  }

  /** Every field with its column, the one with the field's own name first. */
  *pairs(): Iterable<readonly [ImportField, string]> {
    for (const [column, fields] of this.#fieldsByColumn) for (const field of fields) yield [field, column];
  }

  /** The first two columns, of those that were seen, that are both the same field. */
  get rivals(): readonly [string, string] | undefined {
    const first = new Map<ImportField, string>();
    for (const [field, column] of this.pairs()) {
      if (!this.#seen.has(column)) continue;
      const other = first.get(field);
      if (other !== undefined) return [other, column];
      first.set(field, column);
    }
    return undefined;
  }

  /** Columns that no field is taken from, in the order in which they came. */
  get ignored(): string[] {
    return [...this.#seen].filter((column) => !this.#fieldsByColumn.has(column));
  }

  get hasAnyField(): boolean {
    return [...this.#seen].some((column) => this.#fieldsByColumn.has(column));
  }

  /** @throws ImportUsageError where a column that was asked for is in no row. */
  refuseMissing(): void {
    for (const [field, column] of this.#wanted) {
      if (this.#seen.has(column)) continue;
      const there = [...this.#seen].map((name) => `'${name}'`).join(', ') || 'none';
      throw new ImportUsageError(`--map ${field}=${column}: the file has no column '${column}'; there are ${there}`);
    }
  }
}
