import { formatQuantity } from '../../contract/text.ts';

/** The position of a row or an error in the file. */
export interface Position {
  /** The number of the line on which the row or error begins, starting at 1. */
  line: number;
  /** In a JSON array, the number of the item, starting at 1. */
  item?: number | undefined;
}

/** Formats a position as `item 4` in a JSON array, and as `line 17` otherwise. */
export function describePosition({ line, item }: Position): string {
  return item === undefined ? `line ${line}` : `item ${item}`;
}

/** A row of a file: its values by column, or the reason why it cannot be read. */
export type SourceRecord = Position & ({ values: SourceValues } | { error: string });

/** The values of a row by column: strings in CSV, any values in JSON. */
export type SourceValues = Readonly<Record<string, unknown>>;

/** Returns the value of a column. Inherited properties, such as `constructor`, are not columns. */
export function cellOf(values: SourceValues, column: string): unknown {
  return Object.hasOwn(values, column) ? values[column] : undefined;
}

/** Returns whether a parsed JSON value is an object, which a row must be. */
export function isRecord(value: unknown): value is SourceValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An error in a field of a row. If `field` is null, the error concerns the whole row, or the file at that position. */
interface ImportError extends Position {
  field: string | null;
  reason: string;
}

/** The maximum number of listed errors. Further errors are only counted. */
const MAX_LISTED_ERRORS = 200;

/** Thrown if a file is not imported, because it contains errors. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';

  /** @param errors the first errors. @param count the number of all errors. */
  constructor(
    readonly errors: readonly ImportError[],
    readonly count: number,
  ) {
    super(`${formatQuantity(count, 'error')}, and nothing was imported`);
  }
}

/** Thrown if an error in a line prevents reading the rest of a file. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';

  constructor(
    readonly line: number,
    reason: string,
    readonly item?: number,
  ) {
    super(reason);
  }
}

/** Thrown if options are invalid or do not fit the file. */
export class ImportUsageError extends Error {
  override readonly name = 'ImportUsageError';
}

/** Collects the first errors and only counts the others, which bounds memory use. */
export class ErrorList {
  readonly #named: ImportError[] = [];
  #count = 0;

  add(error: ImportError): void {
    this.#count += 1;
    if (this.#named.length < MAX_LISTED_ERRORS) this.#named.push(error);
  }

  /** @throws ImportRefusedError if there are any errors. */
  refuseIfAny(): void {
    if (this.#count > 0) throw new ImportRefusedError(this.#named, this.#count);
  }
}
