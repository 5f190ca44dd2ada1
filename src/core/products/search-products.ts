import type { ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Database } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-errors.ts';
import { cursorOfKeys, pageOf } from '../keyset.ts';
import { foldText } from '../search-text.ts';
import { createSemaphore } from '../semaphore.ts';
import { PRODUCT_ORDERS, type ProductRow, productOf } from './product-row.ts';
import { searchFrequenciesOf } from './search-frequencies.ts';
import { lookupGramsOf } from './search-grams.ts';
import { type ListRange, type LookupKeys, lookUpByIndex, type ScanResult, scanWindow } from './search-statements.ts';
import { isIndexed, rarePartsOf, searchIndexOf } from './search-trigrams.ts';

export interface Search extends Omit<ListRange, 'maxMatches' | 'now'> {
  limit: number;
  now?: Date;
}

/**
 * The number of rows in the first window. A search for a common term reads only this window; for other terms, the
 * window is an additional cost.
 */
const FIRST_WINDOW_ROWS: Record<ProductSort, number> = { newest: 2_000, top: 1_000, discussed: 1_000 };
/**
 * The fraction of the first window that is scanned first as a probe, unless the probe is expected to fill the page.
 * After a probe with few matches, the rest of the window is not scanned, because it probably has few matches, too.
 */
const PROBE_FRACTION = 1 / 4;
/**
 * If the first window has this many matches or more, scanning fills the page sooner than looking up and sorting all
 * matches. With a million products, both take the same time at this number (1 to 8 µs per scanned row, 3 to 8 µs per
 * row that is looked up).
 */
const PROMISING_MATCHES = 6;
/** Maximum number of matches that a lookup by index sorts. If there are more, the search scans instead. */
const MAX_INDEX_ROWS: Record<ProductSort, number> = { newest: 3_000, top: 6_000, discussed: 6_000 };
/**
 * Maximum time of a lookup by index, after which the search scans instead. A term with frequent trigrams may have many
 * candidates and few matches.
 */
const INDEX_TIMEOUT_MS = 150;

/** Maximum time for which one request scans, that is, reads the list in order and compares each row with the terms. */
const SCAN_TIMEOUT_MS = 300;
/** The target duration of one statement, and the first, minimum and maximum numbers of rows per statement. */
const TARGET_STATEMENT_MS = 40;
const WINDOW_ROWS = { first: 4_000, min: 1_000, max: 50_000 };

/**
 * Scanning keeps a CPU core of the database busy, so few requests scan at a time. Scans for terms that an index
 * supports have their own slots, so they do not wait for scans of other terms.
 */
const scanSemaphores = { indexed: createSemaphore(2), unindexed: createSemaphore(2) };

/**
 * Lists one page of matching products, in the order of the list. Common terms fill a page from the head of the list;
 * rare terms are looked up by index and sorted. Rare terms that no index supports (such as one or two letters that are
 * common in English) are searched by scanning for a limited time, and the next cursor continues where the scan ended.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function searchProducts(
  database: Database,
  { now = new Date(), ...filters }: Search,
  { scanTimeoutMs = SCAN_TIMEOUT_MS }: { scanTimeoutMs?: number } = {},
): Promise<ProductPage> {
  const search = { now, ...filters };
  const { limit, ...place } = search;
  const range = { ...place, maxMatches: limit + 1 };
  const indexed = await planIndexLookup(database, search);
  const expectedMatches = (indexed?.share ?? 1) * FIRST_WINDOW_ROWS[search.sort];
  const isRare = indexed !== undefined && expectedMatches < PROMISING_MATCHES;
  let first = isRare ? undefined : await scanFirstWindow(database, range, expectedMatches);
  if (first && first.end === undefined) return completePage(search, first.rows);
  if (indexed && (first?.rows.length ?? 0) < PROMISING_MATCHES) {
    const found = await lookUpWithTimeout(database, { ...range, keys: indexed.keys });
    if (found !== undefined) return completePage(search, found);
  }
  first ??= await scanWindow(database, range, { rows: FIRST_WINDOW_ROWS[search.sort] });
  if (first.end === undefined) return completePage(search, first.rows);
  return continueScan(database, search, first, { indexed: indexed !== undefined, scanTimeoutMs });
}

interface LookupPlan {
  keys: LookupKeys;
  /** An upper bound for the share of products that match. */
  share: number;
}

/** Returns what to look up in the indexes, or undefined if no index supports the search. */
async function planIndexLookup(database: Database, { term, tag }: Search): Promise<LookupPlan | undefined> {
  const index = await searchIndexOf(database);
  if (isIndexed(term, index)) {
    const { parts, share } = rarePartsOf(term, index, await searchFrequenciesOf(database));
    return { keys: { parts }, share };
  }
  const grams = lookupGramsOf(foldText(term));
  if (grams.length === 0) return tag === '' ? undefined : { keys: {}, share: 1 };
  const frequencyOf = await searchFrequenciesOf(database);
  return { keys: { grams }, share: Math.min(...grams.map(frequencyOf)) };
}

/** Scans the first window. `expectedMatches` is an upper bound for the number of matches in it. */
function scanFirstWindow(database: Database, range: ListRange, expectedMatches: number): Promise<ScanResult> {
  const rows = FIRST_WINDOW_ROWS[range.sort];
  const fillsPage = expectedMatches * PROBE_FRACTION >= range.maxMatches;
  const probe = { rows: rows * PROBE_FRACTION, minMatches: PROMISING_MATCHES * PROBE_FRACTION };
  return scanWindow(database, range, { rows, probe: fillsPage ? undefined : probe });
}

/** Looks up the matches by index. @returns undefined if there are too many or if the lookup took too long. */
async function lookUpWithTimeout(
  database: Database,
  range: ListRange & { keys: LookupKeys },
): Promise<ProductRow[] | undefined> {
  return database.transaction(async (sql) => {
    await sql.query(`SET LOCAL statement_timeout = ${INDEX_TIMEOUT_MS}`);
    try {
      return await lookUpByIndex(sql, { ...range, maxFound: MAX_INDEX_ROWS[range.sort] });
    } catch (error) {
      // The error is caught inside the transaction, because `transaction` would report it as an outage and close the
      // connection. PostgreSQL rolls a failed transaction back when it receives COMMIT.
      if (isStatementTimeout(error)) return undefined;
      throw error;
    }
  });
}

async function continueScan(
  database: Database,
  search: Required<Search>,
  first: ScanResult,
  { indexed, scanTimeoutMs }: { indexed: boolean; scanTimeoutMs: number },
): Promise<ProductPage> {
  const order = PRODUCT_ORDERS[search.sort];
  const rows = [...first.rows];
  let { end } = first;
  const deadline = performance.now() + scanTimeoutMs;
  const release = await scanSemaphores[indexed ? 'indexed' : 'unindexed'].acquire(scanTimeoutMs);
  try {
    let windowRows = WINDOW_ROWS.first;
    while (release && end !== undefined && performance.now() < deadline) {
      const started = performance.now();
      const range = { ...search, cursor: cursorOfKeys(order, end), maxMatches: search.limit + 1 - rows.length };
      const scanned = await scanWindow(database, range, { rows: windowRows });
      rows.push(...scanned.rows);
      end = scanned.end;
      windowRows = nextWindowRows(windowRows, performance.now() - started);
    }
  } finally {
    release?.();
  }
  if (end === undefined) return completePage(search, rows);
  return { items: rows.map(productOf), nextCursor: cursorOfKeys(order, end) };
}

/** Returns the number of rows for which the next statement is expected to take the target time. */
function nextWindowRows(rows: number, tookMs: number): number {
  const targetRows = Math.round((rows * TARGET_STATEMENT_MS) / Math.max(tookMs, 1));
  return Math.min(WINDOW_ROWS.max, Math.max(WINDOW_ROWS.min, targetRows));
}

/** Builds a page from rows that fill it or reach the end of the list. */
function completePage({ sort, limit }: Search, rows: readonly ProductRow[]): ProductPage {
  const { shown, nextCursor } = pageOf(PRODUCT_ORDERS[sort], rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
