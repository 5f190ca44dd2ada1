import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { type ShareOf, trigramsOf } from './search-trigrams.ts';

const SAMPLE_ROWS = 2_000;
const SELECT_SAMPLE = `SELECT search_text FROM products ORDER BY created_at DESC, id DESC LIMIT ${SAMPLE_ROWS}`;
/** Seen less often, a trigram counts as rare and is not remembered. */
const MIN_SEEN = 4;
/** Texts that are counted before others have their turn: a millisecond or two. */
const TEXTS_A_TURN = 50;
/** What people write changes slowly; while it is learnt again, the last shares are good enough. */
const BELIEVED_MS = 30 * 60_000;

const remembered = new WeakMap<Database, { shares: Promise<ShareOf>; until: number }>();

/**
 * How frequent trigrams are, from the newest products: learnt at the first question, and now and then again. It decides
 * what the index is asked for, and never what is found.
 */
export function trigramSharesOf(database: Database): Promise<ShareOf> {
  const last = remembered.get(database);
  if (last && performance.now() < last.until) return last.shares;
  const learning = learn(database);
  const until = performance.now() + BELIEVED_MS;
  const shares = last?.shares ?? learning;
  remembered.set(database, { shares, until });
  learning.then(
    () => remembered.set(database, { shares: learning, until }),
    // The next question tries again.
    () => remembered.delete(database),
  );
  return shares;
}

async function learn(database: Database): Promise<ShareOf> {
  const rows = await database.query<{ search_text: string }>(SELECT_SAMPLE);
  // All of a short list is looked at in one statement, which costs less than asking the index.
  if (rows.length < SAMPLE_ROWS) return () => 1;
  const seen = new Map<string, number>();
  for (const [index, { search_text: text }] of rows.entries()) {
    if (index % TEXTS_A_TURN === TEXTS_A_TURN - 1) await nextTurn();
    const inText = new Set(Array.from(trigramsOf(text, 'unicode'), (trigram) => trigram.text));
    for (const trigram of inText) seen.set(trigram, (seen.get(trigram) ?? 0) + 1);
  }
  for (const [trigram, times] of seen) if (times < MIN_SEEN) seen.delete(trigram);
  return (trigram) => (seen.get(trigram) ?? 1) / SAMPLE_ROWS;
}
