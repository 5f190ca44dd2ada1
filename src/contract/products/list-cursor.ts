/**
 * Formats the cursor of a page of the product list: the sort keys of the product before the page, a dot, and the number
 * of products before the page, such as `WyJuZXdlc3QiLCI…0.20`. The page number is derived from that number.
 */
export function writeListCursor(keys: string, position: number): string {
  return `${keys}.${position}`;
}

/** Splits a cursor into its keys and its position. @returns undefined if the cursor is malformed. */
export function readListCursor(cursor: string): { keys: string; position: number } | undefined {
  const [, keys, position] = /^([\w-]+)\.(0|[1-9]\d{0,8})$/.exec(cursor) ?? [];
  return keys === undefined ? undefined : { keys, position: Number(position) };
}
