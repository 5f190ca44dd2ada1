/**
 * Where a page of the product list starts: the sort keys of the product before it, and after a dot how many products come
 * before it, e.g. `WyJuZXdlc3QiLCI…0.20`. The position is part of the cursor, so one place has one address.
 */
export function writeListCursor(keys: string, position: number): string {
  return `${keys}.${position}`;
}

/** The keys and the position of a cursor; `undefined` unless it has both. */
export function readListCursor(cursor: string): { keys: string; position: number } | undefined {
  const [, keys, position] = /^([\w-]+)\.(0|[1-9]\d{0,8})$/.exec(cursor) ?? [];
  return keys === undefined ? undefined : { keys, position: Number(position) };
}
