import type { ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Database } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-faults.ts';
import { cursorBehind, pageOf } from '../keyset.ts';
import { PRODUCT_ORDERS } from './product-orders.ts';
import { type ProductRow, productOf } from './product-row.ts';
import { isIndexed, searchIndexOf } from './search-index.ts';
import { trigramSharesOf } from './search-shares.ts';
import { createSlots } from './search-slots.ts';
import { lookUp, type Stretch, type Walked, walkWindow } from './search-statements.ts';
import { type RareParts, rarePartsOf } from './search-trigrams.ts';

export interface Search extends Omit<Stretch, 'wanted'> {
  limit: number;
}

/** How far the first look at the list goes: all that a common term costs, and what another one costs more. */
const FIRST_WINDOW_ROWS: Record<ProductSort, number> = { newest: 2_000, top: 1_000, discussed: 1_000 };
/** The part of it that is looked at first where all of it cannot fill the page: where nothing matches in that, walking will not do. */
const GLIMPSE = 1 / 4;
/**
 * As many matches in all of it promise that walking on fills the page before that many rows could be looked up and sorted: with
 * a million products, both cost the same where so many match (a walked row takes 1 to 8 µs, one looked up 3 to 8).
 */
const PROMISING_MATCHES = 6;
const MOST_LOOKED_UP: Record<ProductSort, number> = { newest: 3_000, top: 6_000, discussed: 6_000 };
/** A term of frequent syllables can have many candidates and few matches: then walking is the surer way. */
const LOOK_UP_MS = 150;

/** How long one request may walk on. */
const WALK_MS = 300;
/** How long one statement of it should take, and how many rows it may look at. */
const WINDOW_MS = 40;
const WINDOW_ROWS = { first: 4_000, min: 1_000, max: 50_000 };

/**
 * Walking keeps a processor of the database busy. So few do it at the same time that there is always one for the others;
 * those whose term an index knows do not stand behind those whose term it does not.
 */
const slots = { indexed: createSlots(2), unindexed: createSlots(2) };

/**
 * One page of the products that match, in the order of the list. Two plans: common terms fill a page from the head of the
 * list; rare ones are looked up by index and sorted. What neither answers (terms of one or two characters, or of signs,
 * that are rare) is searched for by walking for a limited time, and the cursor goes on from where that ended.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function searchProducts(
  database: Database,
  search: Search,
  { walkMs = WALK_MS }: { walkMs?: number } = {},
): Promise<ProductPage> {
  const { limit, ...place } = search;
  const stretch = { ...place, wanted: limit + 1 };
  const indexed = await askIndex(database, search);
  const most = (indexed?.share ?? 1) * FIRST_WINDOW_ROWS[search.sort];
  const isRare = indexed !== undefined && most < PROMISING_MATCHES;
  let first = isRare ? undefined : await lookAhead(database, stretch, most);
  if (first && first.edge === undefined) return wholePage(search, first.rows);
  if (indexed && (first?.rows.length ?? 0) < PROMISING_MATCHES) {
    const found = await lookUpInTime(database, { ...stretch, parts: indexed.parts });
    if (found !== undefined) return wholePage(search, found);
  }
  first ??= await walkWindow(database, stretch, FIRST_WINDOW_ROWS[search.sort]);
  if (first.edge === undefined) return wholePage(search, first.rows);
  return walkOn(database, search, first, { indexed: indexed !== undefined, walkMs });
}

/** What the indexes can be asked for; `undefined`: no index knows it. */
async function askIndex(database: Database, { term, tag }: Search): Promise<RareParts | undefined> {
  const index = await searchIndexOf(database);
  if (!isIndexed(term, index)) return tag === '' ? undefined : { parts: [], share: 1 };
  return rarePartsOf(term, index, await trigramSharesOf(database));
}

/** The first window, or its beginning where nothing matches there. `most`: no more matches than that are in it. */
async function lookAhead(database: Database, stretch: Stretch, most: number): Promise<Walked> {
  const { sort, wanted } = stretch;
  const windowRows = FIRST_WINDOW_ROWS[sort];
  if (most >= wanted) return walkWindow(database, stretch, windowRows);
  const { rows, edge } = await walkWindow(database, stretch, windowRows * GLIMPSE);
  if (rows.length === 0 || edge === undefined) return { rows, edge };
  const behind = { ...stretch, cursor: cursorBehind(PRODUCT_ORDERS[sort], edge), wanted: wanted - rows.length };
  const rest = await walkWindow(database, behind, windowRows * (1 - GLIMPSE));
  return { rows: [...rows, ...rest.rows], edge: rest.edge };
}

/** `undefined`: there are too many, or it took too long to know. */
async function lookUpInTime(
  database: Database,
  stretch: Stretch & { parts: readonly string[] },
): Promise<ProductRow[] | undefined> {
  try {
    return await database.transaction(async (sql) => {
      await sql.query(`SET LOCAL statement_timeout = ${LOOK_UP_MS}`);
      return lookUp(sql, { ...stretch, mostFound: MOST_LOOKED_UP[stretch.sort] });
    });
  } catch (error) {
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

async function walkOn(
  database: Database,
  search: Search,
  first: Walked,
  { indexed, walkMs }: { indexed: boolean; walkMs: number },
): Promise<ProductPage> {
  const order = PRODUCT_ORDERS[search.sort];
  const rows = [...first.rows];
  let { edge } = first;
  const end = performance.now() + walkMs;
  const giveBack = await slots[indexed ? 'indexed' : 'unindexed'].take(walkMs);
  try {
    let windowRows = WINDOW_ROWS.first;
    while (giveBack && edge !== undefined && performance.now() < end) {
      const started = performance.now();
      const stretch = { ...search, cursor: cursorBehind(order, edge), wanted: search.limit + 1 - rows.length };
      const walked = await walkWindow(database, stretch, windowRows);
      rows.push(...walked.rows);
      edge = walked.edge;
      windowRows = nextWindowRows(windowRows, performance.now() - started);
    }
  } finally {
    giveBack?.();
  }
  if (edge === undefined) return wholePage(search, rows);
  return { items: rows.map(productOf), nextCursor: cursorBehind(order, edge) };
}

/** So many that they take as long as one statement should, on this machine and at this moment. */
function nextWindowRows(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * WINDOW_MS) / Math.max(tookMs, 1));
  return Math.min(WINDOW_ROWS.max, Math.max(WINDOW_ROWS.min, fitting));
}

/** Of rows that go as far as the page or the list does. */
function wholePage({ sort, limit }: Search, rows: readonly ProductRow[]): ProductPage {
  const { shown, nextCursor } = pageOf(PRODUCT_ORDERS[sort], rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
