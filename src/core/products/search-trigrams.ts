import type { Sql } from '../database/database.ts';
import { memoize } from '../memoize.ts';

/**
 * The letters that the index supports: none without a valid index, and those beyond ASCII only if the server's locale
 * classifies them as letters.
 */
type SearchIndex = 'none' | 'ascii' | 'unicode';

/** Ignores indexes in other schemas, and an index that cannot be used because it is being built or its build failed. */
const SELECT_INDEX = `SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = pg_index.indexrelid
  WHERE pg_index.indrelid = to_regclass('products') AND pg_class.relname = 'products_search' AND pg_index.indisvalid`;

/** Tests whether the server's locale has letters beyond ASCII; the locale C has none. */
const SELECT_LETTERS = "SELECT cardinality(show_trgm('ёж字')) > 0 AS known";

/** How long a result is reused. An operator may add the extension or drop the index while the site runs. */
const INDEX_MAX_AGE_MS = 60_000;

/**
 * Returns the letters that the trigram index supports, or `none` if the server has no such index. The result is reused
 * for a minute.
 */
export const searchIndexOf = memoize(querySearchIndex, INDEX_MAX_AGE_MS);

async function querySearchIndex(sql: Sql): Promise<SearchIndex> {
  const present = await sql.query(SELECT_INDEX);
  if (present.length === 0) return 'none';
  const [letters] = await sql.query<{ known: boolean }>(SELECT_LETTERS);
  return letters?.known ? 'unicode' : 'ascii';
}

/** Returns whether the index can find candidates for a folded term. */
export function isIndexed(foldedTerm: string, index: SearchIndex): boolean {
  return !trigramsOf(foldedTerm, index).next().done;
}

/** Three consecutive letters or digits, as in the trigram index. `start` is their offset in UTF-16 code units. */
interface Trigram {
  text: string;
  start: number;
}

/** Matches sequences of letters and digits that contain trigrams. Punctuation and emoji are in no trigram. */
const RUNS: Record<SearchIndex, RegExp> = {
  none: /(?!)/g,
  ascii: /[a-z0-9]{3,}/g,
  unicode: /[\p{L}\p{N}]{3,}/gu,
};

/** Generates all trigrams of a folded text, in order, including repetitions. */
export function* trigramsOf(text: string, index: SearchIndex): Generator<Trigram> {
  for (const run of text.matchAll(RUNS[index])) {
    const characters = Array.from(run[0]);
    let start = run.index;
    for (let first = 0; first + 3 <= characters.length; first += 1) {
      yield { text: characters.slice(first, first + 3).join(''), start };
      start += characters[first]?.length ?? 0;
    }
  }
}

/** Returns the share of products that contain a trigram, from 0 to 1. */
type FrequencyOf = (trigram: string) => number;

/** The share of candidates (50 of a million) below which testing them costs less than reading another posting list. */
const MAX_CANDIDATE_SHARE = 1 / 20_000;
const MAX_TRIGRAMS = 5;

/** What to look up in the trigram index. */
interface RareParts {
  /** Parts of the term, in order. If there are none, the whole term is looked up, because no part is rare enough. */
  parts: readonly string[];
  /** An upper bound for the share of products that contain the term. */
  share: number;
}

/**
 * Chooses parts of a folded term with its rarest trigrams, as many as are needed to leave few candidates. For the whole
 * term, the index would read the posting lists of all trigrams. The lists of frequent trigrams are long and exclude few
 * rows.
 */
export function rarePartsOf(term: string, index: SearchIndex, frequencyOf: FrequencyOf): RareParts {
  const byShare = [...trigramsOf(term, index)].sort((one, other) => frequencyOf(one.text) - frequencyOf(other.text));
  const share = byShare[0] === undefined ? 1 : frequencyOf(byShare[0].text);
  const chosen = new Map<string, Trigram>();
  let candidates = 1;
  for (const trigram of byShare) {
    if (chosen.has(trigram.text)) continue;
    if (chosen.size === MAX_TRIGRAMS) break;
    chosen.set(trigram.text, trigram);
    candidates *= frequencyOf(trigram.text);
    if (candidates < MAX_CANDIDATE_SHARE) return { parts: joined(term, [...chosen.values()]), share };
  }
  return { parts: [], share };
}

/** Joins overlapping trigrams into parts of the term, in the order of the term. */
function joined(term: string, trigrams: readonly Trigram[]): string[] {
  const parts: { start: number; end: number }[] = [];
  for (const { text, start } of trigrams.toSorted((one, other) => one.start - other.start)) {
    const last = parts.at(-1);
    if (last !== undefined && start < last.end) last.end = start + text.length;
    else parts.push({ start, end: start + text.length });
  }
  return parts.map(({ start, end }) => term.slice(start, end));
}
