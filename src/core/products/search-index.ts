import type { Sql } from '../database/database.ts';

/**
 * The capabilities of the index: none without the extension, and beyond ASCII only if the server knows such letters.
 */
export type SearchIndex = 'none' | 'ascii' | 'unicode';

/** An index that is being built, or whose build failed, cannot be used. */
const SELECT_INDEX = `SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = pg_index.indexrelid
  WHERE pg_class.relname = 'products_search' AND pg_index.indisvalid`;

/** With the locale C, only ASCII letters count as letters. */
const SELECT_LETTERS = "SELECT cardinality(show_trgm('ёж字')) > 0 AS known";

/** How long a result is reused: an operator may add the extension, or drop the index, while the site runs. */
const MAX_AGE_MS = 60_000;

const remembered = new WeakMap<Sql, { index: Promise<SearchIndex>; until: number }>();

/** The trigram index of the search, which not every server can have. Checked once a minute. */
export function searchIndexOf(sql: Sql): Promise<SearchIndex> {
  const last = remembered.get(sql);
  if (last && performance.now() < last.until) return last.index;
  const index = ask(sql);
  remembered.set(sql, { index, until: performance.now() + MAX_AGE_MS });
  // A failed check is repeated the next time.
  index.catch(() => remembered.delete(sql));
  return index;
}

async function ask(sql: Sql): Promise<SearchIndex> {
  const present = await sql.query(SELECT_INDEX);
  if (present.length === 0) return 'none';
  const [letters] = await sql.query<{ known: boolean }>(SELECT_LETTERS);
  return letters?.known ? 'unicode' : 'ascii';
}

/** Three consecutive letters or digits, which make a trigram. Punctuation and emoji are in none. */
const INDEXED_RUNS: Record<SearchIndex, RegExp> = {
  none: /(?!)/,
  ascii: /[a-z0-9]{3}/,
  unicode: /[\p{L}\p{N}]{3}/u,
};

/** Whether the index can find candidates for a folded term. */
export function isIndexed(foldedTerm: string, index: SearchIndex): boolean {
  return INDEXED_RUNS[index].test(foldedTerm);
}
