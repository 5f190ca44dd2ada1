import type { ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Database } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-faults.ts';
import { cursorBehind, pageOf } from '../keyset.ts';
import { createSemaphore } from '../semaphore.ts';
import { PRODUCT_ORDERS, type ProductRow, productOf } from './product-row.ts';
import { lookUp, type Stretch, type Walked, walkWindow } from './search-statements.ts';
import { isIndexed, type RareParts, rarePartsOf, searchIndexOf, trigramFrequenciesOf } from './search-trigrams.ts';

export interface Search extends Omit<Stretch, 'wanted' | 'now'> {
  limit: number;
  now?: Date;
}

/** Rows of the first window. Common terms cost only this window; for other terms, it is an additional cost. */
const FIRST_WINDOW_ROWS: Record<ProductSort, number> = { newest: 2_000, top: 1_000, discussed: 1_000 };
/**
 * The part of the first window that is walked first if it cannot fill the page. If it has few matches, the rest of the
 * window is not walked, because it would not have many either.
 */
const PROBE_FRACTION = 1 / 4;
/**
 * From this many matches in the first window on, walking fills the page sooner than looking up and sorting all matches.
 * With a million products, both take the same time at this number (1 to 8 µs per walked row, 3 to 8 per row looked up).
 */
const PROMISING_MATCHES = 6;
const MAX_INDEX_ROWS: Record<ProductSort, number> = { newest: 3_000, top: 6_000, discussed: 6_000 };
/** A term with frequent trigrams may have many candidates and few matches. After this time, the search walks instead. */
const INDEX_TIMEOUT_MS = 150;

/** How long one request may walk, which means to read the list in order and compare each row with the terms. */
const WALK_MS = 300;
/** The target duration of one statement, and its maximum number of rows. */
const WINDOW_MS = 40;
const WINDOW_ROWS = { first: 4_000, min: 1_000, max: 50_000 };

/**
 * Walking keeps a CPU core of the database busy, so few requests walk at a time. Walks for terms that an index supports
 * do not wait for other walks.
 */
const slots = { indexed: createSemaphore(2), unindexed: createSemaphore(2) };

/**
 * Lists one page of matching products, in the order of the list. Common terms fill a page from the head of the list;
 * rare terms are looked up by index and sorted. Rare terms that no index supports (one or two characters, or
 * punctuation) are searched by walking for a limited time, and the next cursor continues where the walk ended.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function searchProducts(
  database: Database,
  { now = new Date(), ...narrowed }: Search,
  { walkMs = WALK_MS }: { walkMs?: number } = {},
): Promise<ProductPage> {
  const search = { now, ...narrowed };
  const { limit, ...place } = search;
  const stretch = { ...place, wanted: limit + 1 };
  const indexed = await askIndex(database, search);
  const most = (indexed?.share ?? 1) * FIRST_WINDOW_ROWS[search.sort];
  const isRare = indexed !== undefined && most < PROMISING_MATCHES;
  let first = isRare ? undefined : await checkBeforeStart(database, stretch, most);
  if (first && first.edge === undefined) return wholePage(search, first.rows);
  if (indexed && (first?.rows.length ?? 0) < PROMISING_MATCHES) {
    const found = await lookUpInTime(database, { ...stretch, parts: indexed.parts });
    if (found !== undefined) return wholePage(search, found);
  }
  first ??= await walkWindow(database, stretch, FIRST_WINDOW_ROWS[search.sort]);
  if (first.edge === undefined) return wholePage(search, first.rows);
  return walkOn(database, search, first, { indexed: indexed !== undefined, walkMs });
}

/** Returns what to look up in the indexes, or undefined if no index supports the search. */
async function askIndex(database: Database, { term, tag }: Search): Promise<RareParts | undefined> {
  const index = await searchIndexOf(database);
  if (!isIndexed(term, index)) return tag === '' ? undefined : { parts: [], share: 1 };
  return rarePartsOf(term, index, await trigramFrequenciesOf(database));
}

/** Walks the first window, or only its beginning if that has few matches. `most` is the expected maximum of matches. */
async function checkBeforeStart(database: Database, stretch: Stretch, most: number): Promise<Walked> {
  const { sort, wanted } = stretch;
  const windowRows = FIRST_WINDOW_ROWS[sort];
  if (most * PROBE_FRACTION >= wanted) return walkWindow(database, stretch, windowRows);
  const { rows, edge } = await walkWindow(database, stretch, windowRows * PROBE_FRACTION);
  if (rows.length < PROMISING_MATCHES * PROBE_FRACTION || edge === undefined) return { rows, edge };
  const behind = { ...stretch, cursor: cursorBehind(PRODUCT_ORDERS[sort], edge), wanted: wanted - rows.length };
  const rest = await walkWindow(database, behind, windowRows * (1 - PROBE_FRACTION));
  return { rows: [...rows, ...rest.rows], edge: rest.edge };
}

/** Looks up the matches by index. @returns undefined if there are too many or if the lookup took too long. */
async function lookUpInTime(
  database: Database,
  stretch: Stretch & { parts: readonly string[] },
): Promise<ProductRow[] | undefined> {
  try {
    return await database.transaction(async (sql) => {
      await sql.query(`SET LOCAL statement_timeout = ${INDEX_TIMEOUT_MS}`);
      return lookUp(sql, { ...stretch, maxFound: MAX_INDEX_ROWS[stretch.sort] });
    });
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

async function walkOn(
  database: Database,
  search: Required<Search>,
  first: Walked,
  { indexed, walkMs }: { indexed: boolean; walkMs: number },
): Promise<ProductPage> {
  const order = PRODUCT_ORDERS[search.sort];
  const rows = [...first.rows];
  let { edge } = first;
  const end = performance.now() + walkMs;
  const release = await slots[indexed ? 'indexed' : 'unindexed'].take(walkMs);
  try {
    let windowRows = WINDOW_ROWS.first;
    while (release && edge !== undefined && performance.now() < end) {
      const started = performance.now();
      const stretch = { ...search, cursor: cursorBehind(order, edge), wanted: search.limit + 1 - rows.length };
      const walked = await walkWindow(database, stretch, windowRows);
      rows.push(...walked.rows);
      edge = walked.edge;
      windowRows = nextWindowRows(windowRows, performance.now() - started);
    }
  } finally {
    release?.();
  }
  if (edge === undefined) return wholePage(search, rows);
  return { items: rows.map(productOf), nextCursor: cursorBehind(order, edge) };
}

/** Returns the number of rows for which the next statement is expected to take the target time. */
function nextWindowRows(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * WINDOW_MS) / Math.max(tookMs, 1));
  return Math.min(WINDOW_ROWS.max, Math.max(WINDOW_ROWS.min, fitting));
}

/** Builds a page from rows that reach the end of the page or of the list. */
function wholePage({ sort, limit }: Search, rows: readonly ProductRow[]): ProductPage {
  const { shown, nextCursor } = pageOf(PRODUCT_ORDERS[sort], rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
