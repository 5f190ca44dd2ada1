import type { Sql } from '../database/database.ts';

/** Names of indexes that are whole: one that is being built, or whose building failed, answers nothing. */
const SELECT_INDEX = `SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = pg_index.indexrelid
  WHERE pg_class.relname = 'products_search' AND pg_index.indisvalid`;

/** How long an answer is believed: an operator may add the extension, or drop the index, while the site runs. */
const BELIEVED_MS = 60_000;

const known = new WeakMap<Sql, { present: Promise<boolean>; until: number }>();

/** Whether the trigram index of the search is there, which not every server can have. Asked once a minute. */
export function hasSearchIndex(sql: Sql): Promise<boolean> {
  const remembered = known.get(sql);
  if (remembered && performance.now() < remembered.until) return remembered.present;
  const present = sql.query(SELECT_INDEX).then((rows) => rows.length > 0);
  known.set(sql, { present, until: performance.now() + BELIEVED_MS });
  // A question that failed is asked again the next time.
  present.catch(() => known.delete(sql));
  return present;
}

/** Three letters or digits in a row: what an index of trigrams can look up. Signs and emoji are not in it. */
const INDEXED_RUN = /[\p{L}\p{N}]{3}/u;

export function isIndexed(foldedTerm: string): boolean {
  return INDEXED_RUN.test(foldedTerm);
}
