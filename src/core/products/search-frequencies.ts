import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { trigramsOf } from './search-trigrams.ts';

/**
 * Estimates the share of products that contain a trigram or an n-gram, from 0 to 1. Trigrams and n-grams that are not
 * in the sample count as rare. On a site too small for a sample, the share is always 1.
 */
type FrequencyOf = (key: string | number) => number;

const SAMPLE_ROWS = 2_000;
const SELECT_SAMPLE = `SELECT search_text, search_grams FROM products ORDER BY created_at DESC, id DESC LIMIT ${SAMPLE_ROWS}`;
/** Trigrams and n-grams in fewer texts of the sample are not stored, and so count as rare. */
const MIN_OCCURRENCES = 4;
/**
 * The number of texts that are processed before yielding to other work. Processing them takes one to two milliseconds.
 */
const TEXTS_PER_TURN = 50;
/**
 * How long frequencies are reused. They change slowly, so the previous frequencies are used while new ones are sampled.
 */
const FREQUENCIES_MAX_AGE_MS = 30 * 60_000;

const frequencyCache = new WeakMap<Database, { shares: Promise<FrequencyOf>; until: number }>();

/**
 * Returns the frequencies of trigrams and n-grams in the newest products, which are sampled at the first search and
 * then at most every half hour. They affect the plan of a search, but never its result.
 */
export function searchFrequenciesOf(database: Database): Promise<FrequencyOf> {
  const last = frequencyCache.get(database);
  if (last && performance.now() < last.until) return last.shares;
  const sampling = sampleFrequencies(database);
  const until = performance.now() + FREQUENCIES_MAX_AGE_MS;
  const shares = last?.shares ?? sampling;
  frequencyCache.set(database, { shares, until });
  sampling.then(
    () => frequencyCache.set(database, { shares: sampling, until }),
    // The next request repeats a failed sampling.
    () => frequencyCache.delete(database),
  );
  return shares;
}

async function sampleFrequencies(database: Database): Promise<FrequencyOf> {
  const rows = await database.query<{ search_text: string; search_grams: number[] }>(SELECT_SAMPLE);
  // With shares of 1, searches scan the list first. A list this short is scanned in one statement, which costs less
  // than a lookup.
  if (rows.length < SAMPLE_ROWS) return () => 1;
  const seen = new Map<string | number, number>();
  for (const [index, { search_text: text, search_grams: grams }] of rows.entries()) {
    if (index % TEXTS_PER_TURN === TEXTS_PER_TURN - 1) await nextTurn();
    const trigrams = new Set(Array.from(trigramsOf(text, 'unicode'), (trigram) => trigram.text));
    for (const key of [...trigrams, ...grams]) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  for (const [key, times] of seen) if (times < MIN_OCCURRENCES) seen.delete(key);
  return (key) => (seen.get(key) ?? 1) / SAMPLE_ROWS;
}
