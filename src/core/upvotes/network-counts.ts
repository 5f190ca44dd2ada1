import { LRUCache } from 'lru-cache';
import type { Sql } from '../database/database.ts';
import type { VoteNetwork } from '../leaderboards/vote-networks.ts';

/**
 * Caches how many votes each network cast in the launch windows of products, so most votes are compared with the cap
 * without a query. A count is too low only if other processes write to the product.
 */
export interface NetworkCounts {
  /**
   * Reads the counts of products that are not cached, except products with many votes.
   * @throws CoreError `unavailable`.
   */
  load(sql: Sql, productIds: readonly string[]): Promise<void>;
  /**
   * Returns whether all of these votes together stay within the cap of each network; false if a count is not cached.
   */
  areWithinCap(votes: readonly VoteNetwork[], cap: number): boolean;
  /**
   * Records the networks of votes that were added to or removed from a product. `windowChanges` is the value of
   * `window_changes` after these changes.
   * @returns false if other processes may have written to the product: no earlier value is cached, or the value has
   * not increased by one.
   */
  record(productId: string, windowChanges: number, added: readonly string[], removed: readonly string[]): boolean;
}

interface CachedCounts {
  /** The value of `window_changes` for which the counts are correct. */
  windowChanges: number;
  /** Votes by network; undefined if they were not read. */
  votes: Map<string, number> | undefined;
}

/** The maximum number of cached pairs of product and network, which take about 10 MB. */
const MAX_PAIRS = 100_000;
/** The maximum number of votes that are read into the cache before a batch. */
const MAX_LOADED_VOTES = 20_000;
/**
 * How long to wait before reading the counts of a product again if other processes write to it, or if it has many
 * votes.
 */
const RELOAD_MS = 60_000;

const SELECT_SIZES = `SELECT product_id, window_changes, counted + excluded_network + excluded_operator AS votes
  FROM product_counts WHERE product_id = ANY($1::text[])`;

const SELECT_COUNTS = `SELECT c.product_id, c.window_changes, u.network, count(u.network)::integer AS votes
  FROM product_counts c LEFT JOIN upvotes u ON u.product_id = c.product_id AND u.network IS NOT NULL
  WHERE c.product_id = ANY($1::text[]) GROUP BY c.product_id, c.window_changes, u.network`;

export function createNetworkCounts(monotonicMs: () => number = () => performance.now()): NetworkCounts {
  const products = new LRUCache<string, CachedCounts>({
    maxSize: MAX_PAIRS,
    sizeCalculation: ({ votes }) => 1 + (votes?.size ?? 0),
    perf: { now: monotonicMs },
    ttlResolution: 0,
  });

  const skipUntilReload = (productId: string, windowChanges: number) =>
    products.set(productId, { windowChanges, votes: undefined }, { ttl: RELOAD_MS });

  return {
    async load(sql, productIds) {
      const unknown = new Set(productIds.filter((id) => products.get(id) === undefined));
      if (unknown.size === 0) return;
      const sizes = await sql.query<{ product_id: string; window_changes: number; votes: number }>(SELECT_SIZES, [
        [...unknown],
      ]);
      let left = MAX_LOADED_VOTES;
      const small: string[] = [];
      for (const { product_id: id, window_changes: changes, votes } of sizes) {
        if (votes > MAX_LOADED_VOTES) skipUntilReload(id, changes);
        else if (votes === 0) products.set(id, { windowChanges: changes, votes: new Map() });
        else if (votes <= left) small.push(id);
        if (votes <= left) left -= votes;
      }
      if (small.length === 0) return;
      const rows = await sql.query<{
        product_id: string;
        window_changes: number;
        network: string | null;
        votes: number;
      }>(SELECT_COUNTS, [small]);
      const loaded = new Map<string, Required<CachedCounts> & { votes: Map<string, number> }>();
      for (const { product_id: id, window_changes: windowChanges, network, votes } of rows) {
        const known = loaded.get(id) ?? { windowChanges, votes: new Map<string, number>() };
        if (network !== null) known.votes.set(network, votes);
        loaded.set(id, known);
      }
      for (const [id, known] of loaded) products.set(id, known);
    },

    areWithinCap(votes, cap) {
      const together = new Map<string, number>();
      return votes.every(({ productId, network }) => {
        const known = products.get(productId)?.votes;
        if (known === undefined) return false;
        const key = `${productId} ${network}`;
        const count = (together.get(key) ?? known.get(network) ?? 0) + 1;
        together.set(key, count);
        return count <= cap;
      });
    },

    record(productId, windowChanges, added, removed) {
      const known = products.get(productId);
      if (known === undefined) return false;
      if (known.windowChanges !== windowChanges - 1) {
        skipUntilReload(productId, windowChanges);
        return false;
      }
      known.windowChanges = windowChanges;
      const { votes } = known;
      if (votes === undefined) return true;
      const size = votes.size;
      for (const network of added) votes.set(network, (votes.get(network) ?? 0) + 1);
      for (const network of removed) votes.set(network, (votes.get(network) ?? 1) - 1);
      // The cache computes the size of an entry only when another object is set.
      if (votes.size > size) products.set(productId, { ...known });
      return true;
    },
  };
}
