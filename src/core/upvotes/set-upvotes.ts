import { VOTES_PER_NETWORK } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { UpvoteState } from '../../contract/upvotes/schema.ts';
import { productNotFound, productPaused } from '../core-error.ts';
import { IS_OPEN, lockWritableCounts, MAY_BE_PAUSED } from '../counts/lock-counts.ts';
import { isDistributed } from '../database/citus.ts';
import type { Database, Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-errors.ts';
import type { BatchResult, Outcome } from '../group-commit.ts';
import { windowStart } from '../leaderboards/calendar.ts';
import type { VoteNetwork } from '../leaderboards/vote-networks.ts';
import { orderedUuid, type Runtime } from '../runtime.ts';
import { createNetworkCounts, type NetworkCounts } from './network-counts.ts';
import { type BatchContent, setUpvotesStatement } from './upvotes-statement.ts';

/** A change that sets or withdraws a session's upvote of a product. */
export interface UpvoteChange {
  productId: string;
  session: string;
  upvoted: boolean;
  /** The voter's network from `VoteNetworks`; unset outside a launch window, or if the address is unknown. */
  network?: string | undefined;
}

const SELECT_COUNTS = `SELECT product_id, upvotes, ${MAY_BE_PAUSED} AS is_paused FROM product_counts
  WHERE product_id = ANY($1::text[]) AND window_from <= $2::timestamptz AND ${IS_OPEN}`;

/** The count of a product, and the sessions of its added and removed upvotes. */
interface ProductRow {
  product_id: string;
  upvotes: number;
  /** Whether the votes may have been skipped because writes to the product were paused. Unset if they were written. */
  is_paused?: boolean;
  added?: string[] | null;
  /** Unset if the batch removes no upvotes. */
  removed?: string[] | null;
}

interface WrittenRow extends ProductRow {
  window_changes: number;
  /** The networks of the removed upvotes. */
  freed?: string[] | null;
}

interface VoteRules {
  /** The value of VOTES_PER_NETWORK. */
  votesPerNetwork: number;
  /** The cache that all writes of this process share. */
  networkCounts: NetworkCounts;
}

const defaultRules = (): VoteRules => ({
  votesPerNetwork: VOTES_PER_NETWORK,
  networkCounts: createNetworkCounts(),
});

/**
 * Applies changes with the same result as if they were applied one by one. Writes them in one transaction, except that
 * changes to products with operators' decisions follow in a second one. If only the second transaction fails, repeating
 * all changes gives the same result.
 *
 * `unchecked` contains the networks whose votes must be checked against the cap again: those that may exceed the cap
 * because of concurrent writes by other processes, those with votes for products with decisions, and those whose
 * removed votes may let other votes count.
 *
 * @returns for each change, the state and the product's count after it, or a CoreError: `product_not_found`, or
 * `unavailable` while the product's many votes are recounted. `productIds` contains the products of all changes
 * without an error, even those whose counts did not change.
 * @throws CoreError `unavailable`.
 */
export async function setUpvotes(
  database: Database,
  runtime: Runtime,
  changes: readonly UpvoteChange[],
  rules: VoteRules = defaultRules(),
): Promise<BatchResult<UpvoteState> & { unchecked: VoteNetwork[] }> {
  const last = lastChanges(changes);
  const now = runtime.now().toISOString();
  const capCheck = await requiredCapCheck(database, last, rules);
  // On Citus, votes are not compared with the rows of their networks while they are written. Votes beyond the cap count
  // until the cap is applied later.
  const isCapDeferred = capCheck !== 'withinCap' && (await isDistributed(database));
  const networks = isCapDeferred ? 'withinCap' : capCheck;
  const written = await write(database, last, { now, networks, decisions: false, rules });
  // The first statement skips products with decisions. Whether a product has any is certain only after the statement
  // has locked its counts, so the products are not looked up beforehand.
  const skipped = withoutRow(last, written);
  const decided = new Set<string>();
  let locked = new Set<string>();
  if (skipped.length > 0) {
    const rows = await database.transaction(async (sql) => {
      // Locks the counts in a separate statement, so the snapshot of the next statement includes the decisions for
      // which the lock waited. Locks all counts that the next statement locks, in order, to prevent deadlocks.
      const ids = skipped.map(({ productId }) => productId);
      locked = new Set(await lockWritableCounts(sql, ids));
      return write(sql, skipped, { now, networks, decisions: true, rules });
    });
    written.push(...rows);
    // Includes products whose votes were already written, by an attempt whose commit was not confirmed.
    for (const { productId } of skipped) decided.add(productId);
  }
  const others = await countsOfOthers(database, last, written, now);
  // Products that were locked were not skipped: their votes already were as requested.
  const isPaused = (row: ProductRow) => row.is_paused && !locked.has(row.product_id);
  const paused = new Set(others.filter(isPaused).map((row) => row.product_id));
  const [upvoted, counts] = statesBefore(last, [...written, ...others.filter((row) => !isPaused(row))]);
  const unchecked = networksToCheck(last, written, rules.networkCounts, { isCapDeferred, decided });
  return {
    outcomes: replay(changes, upvoted, counts, paused),
    productIds: [...counts.keys()],
    commentIds: [],
    unchecked,
  };
}

/**
 * Returns the networks whose votes must be checked against the cap again. The cap is applied to the state at the start
 * of the statement or earlier, which concurrent writes by other processes to the product may have changed.
 */
function networksToCheck(
  changes: readonly UpvoteChange[],
  rows: readonly WrittenRow[],
  networkCounts: NetworkCounts,
  { isCapDeferred, decided }: { isCapDeferred: boolean; decided: ReadonlySet<string> },
): VoteNetwork[] {
  const networks = new Map(
    changes.flatMap((change) => (change.network === undefined ? [] : [[keyOf(change), change.network] as const])),
  );
  const unchecked: VoteNetwork[] = [];
  // Neither the statement nor the cache counts the positions of excluded votes that were withdrawn.
  const contested = new Set(decided);
  for (const { product_id: productId, window_changes: windowChanges, added, freed } of rows) {
    // Outside launch windows, no vote has a network.
    const voted =
      networks.size === 0 ? [] : (added ?? []).flatMap((session) => networks.get(keyOf({ productId, session })) ?? []);
    if (!networkCounts.record(productId, windowChanges, voted, freed ?? [])) contested.add(productId);
    for (const network of freed ?? []) unchecked.push({ productId, network });
  }
  for (const { productId, network } of changes) {
    if (network !== undefined && (isCapDeferred || contested.has(productId))) unchecked.push({ productId, network });
  }
  return unchecked;
}

/**
 * Reads the counts of products without an added or removed row. This is a separate statement, because the writing
 * statement may have waited for another process that wrote the same upvote, and would not see the new count.
 */
async function countsOfOthers(
  sql: Sql,
  changes: readonly UpvoteChange[],
  written: readonly ProductRow[],
  now: string,
): Promise<ProductRow[]> {
  const others = withoutRow(changes, written).map(({ productId }) => productId);
  return others.length === 0 ? [] : sql.query<ProductRow>(SELECT_COUNTS, [others, now]);
}

/** Returns the changes to products without an added or removed row. */
function withoutRow(changes: readonly UpvoteChange[], written: readonly ProductRow[]): UpvoteChange[] {
  const changed = new Set(written.map((row) => row.product_id));
  return changes.filter(({ productId }) => !changed.has(productId));
}

async function write(
  sql: Sql,
  changes: readonly UpvoteChange[],
  { now, rules, ...content }: { now: string; rules: VoteRules } & Omit<BatchContent, 'removal'>,
): Promise<WrittenRow[]> {
  try {
    const removal = changes.some(({ upvoted }) => !upvoted);
    const mustCheckCap = content.networks !== 'withinCap';
    const statement = setUpvotesStatement({ removal, ...content });
    const values = [
      changes.map(({ productId }) => productId),
      changes.map(({ session }) => session),
      changes.map(({ upvoted }) => upvoted),
      // Votes of the same time are counted in the order of their ids.
      changes.map(orderedUuid),
      now,
      windowStart(new Date(now)),
      changes.map(({ network }) => network ?? null),
      ...(mustCheckCap ? [rules.votesPerNetwork] : []),
    ];
    return await sql.query<WrittenRow>(statement, values, { isPrepared: true });
  } catch (error) {
    // The product was removed while the upvote was written. A larger batch fails, and group commit retries its halves.
    if (changes.length === 1 && isForeignKeyViolation(error)) return [];
    throw error;
  }
}

/** Returns how the statement must compare these votes with the cap; see `BatchContent`. */
async function requiredCapCheck(
  sql: Sql,
  changes: readonly UpvoteChange[],
  { votesPerNetwork, networkCounts }: VoteRules,
): Promise<BatchContent['networks']> {
  const votes = changes.flatMap(({ productId, network, upvoted }) =>
    upvoted && network !== undefined ? [{ productId, network }] : [],
  );
  if (votes.length === 0) return 'withinCap';
  await networkCounts.load(
    sql,
    votes.map(({ productId }) => productId),
  );
  if (networkCounts.areWithinCap(votes, votesPerNetwork)) return 'withinCap';
  const pairs = new Set(votes.map(({ productId, network }) => `${productId} ${network}`));
  return pairs.size === votes.length ? 'distinct' : 'shared';
}

/** Returns the last change of each session for each product, because only that change is written. */
function lastChanges(changes: readonly UpvoteChange[]): UpvoteChange[] {
  const last = new Map<string, UpvoteChange>();
  for (const change of changes) if (isProductId(change.productId)) last.set(keyOf(change), change);
  return [...last.values()];
}

/** Derives the previous state: added rows did not exist, removed rows did, and all others were as requested. */
function statesBefore(
  last: readonly UpvoteChange[],
  rows: readonly ProductRow[],
): [upvoted: Map<string, boolean>, counts: Map<string, number>] {
  const upvoted = new Map(last.map((change) => [keyOf(change), change.upvoted]));
  const counts = new Map<string, number>();
  for (const { product_id: productId, upvotes, added, removed } of rows) {
    for (const session of added ?? []) upvoted.set(keyOf({ productId, session }), false);
    for (const session of removed ?? []) upvoted.set(keyOf({ productId, session }), true);
    counts.set(productId, upvotes - (added?.length ?? 0) + (removed?.length ?? 0));
  }
  return [upvoted, counts];
}

/** Replays the changes in memory, in order, to determine the result of each caller. */
function replay(
  changes: readonly UpvoteChange[],
  upvotedBefore: Map<string, boolean>,
  countsBefore: Map<string, number>,
  paused: ReadonlySet<string>,
): Outcome<UpvoteState>[] {
  const current = new Map(upvotedBefore);
  const counts = new Map(countsBefore);
  return changes.map((change) => {
    const { productId, upvoted } = change;
    const count = counts.get(productId);
    if (count === undefined) return paused.has(productId) ? productPaused() : productNotFound();
    const upvotes = count + Number(upvoted) - Number(current.get(keyOf(change)));
    current.set(keyOf(change), upvoted);
    counts.set(productId, upvotes);
    return { upvoted, upvotes };
  });
}

function keyOf({ productId, session }: { productId: string; session: string }): string {
  return `${productId} ${session}`;
}
