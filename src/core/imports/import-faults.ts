import { countOf } from '../../contract/text.ts';

/** The position of a row or fault in the file. */
export interface Position {
  /** The line on which it begins, from 1. */
  line: number;
  /** In a JSON array, the number of the item, from 1. */
  item?: number | undefined;
}

/** `item 4` in a JSON array, else `line 17`. */
export function describePosition({ line, item }: Position): string {
  return item === undefined ? `line ${line}` : `item ${item}`;
}

/** A row of a file: its values by column, or why this row alone cannot be read. */
export type SourceRecord = Position & ({ values: SourceValues } | { fault: string });

/** A cell is a text in CSV, and anything in JSON. */
export type SourceValues = Readonly<Record<string, unknown>>;

/** The value of a column. Names of the prototype, such as `constructor`, are not columns. */
export function cellOf(values: SourceValues, column: string): unknown {
  return Object.hasOwn(values, column) ? values[column] : undefined;
}

/** Whether parsed JSON is an object, and so can be a row. */
export function isRecord(value: unknown): value is SourceValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fault of a field of a row, or, if `field` is null, of the row or the file at that position. */
interface ImportFault extends Position {
  field: string | null;
  reason: string;
}

/** Faults that are listed; further ones are only counted. */
const NAMED_FAULTS = 200;

/** A file with faults, which was not imported. */
export class ImportRefusedError extends Error {
  override readonly name = 'ImportRefusedError';

  /** @param faults the first of them. @param count the number of all. */
  constructor(
    readonly faults: readonly ImportFault[],
    readonly count: number,
  ) {
    super(`${countOf(count, 'fault')}, and nothing was imported`);
  }
}

/** A file that cannot be read further. */
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

/** Options that do not fit the file. */
export class ImportUsageError extends Error {
  override readonly name = 'ImportUsageError';
}

/** Collects the first faults and counts the others, so a file full of faults takes no memory. */
export class FaultList {
  readonly #named: ImportFault[] = [];
  #count = 0;

  add(fault: ImportFault): void {
    this.#count += 1;
    if (this.#named.length < NAMED_FAULTS) this.#named.push(fault);
  }

  /** @throws ImportRefusedError if there are any. */
  refuseIfAny(): void {
    if (this.#count > 0) throw new ImportRefusedError(this.#named, this.#count);
  }
}
