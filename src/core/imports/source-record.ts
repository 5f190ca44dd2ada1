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
