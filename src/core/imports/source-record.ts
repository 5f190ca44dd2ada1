/** One row of a file as it was read: what it holds by column, or why it could not be read while those after it can. */
export type SourceRecord = { line: number; values: SourceValues } | { line: number; fault: string };

/** A cell is a text in CSV, and anything in JSON. */
export type SourceValues = Readonly<Record<string, unknown>>;

/** The value of a column; a name that only the prototype has, such as `constructor`, is no column. */
export function cellOf(values: SourceValues, column: string): unknown {
  return Object.hasOwn(values, column) ? values[column] : undefined;
}

/** Whether parsed JSON is an object, and so can be a row. */
export function isRecord(value: unknown): value is SourceValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
