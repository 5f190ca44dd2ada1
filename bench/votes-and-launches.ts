import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completeProduct, saveProducts } from '../src/core/products/save-products.ts';
import { HOUR_MS, systemRuntime } from '../src/core/runtime.ts';
import { createNetworkCounts } from '../src/core/upvotes/network-counts.ts';
import { setUpvotes, type UpvoteChange } from '../src/core/upvotes/set-upvotes.ts';
import type { BenchDatabase, BenchServer } from './harness/bench-database.ts';
import { spreadOf } from './harness/statistics.ts';

const PRODUCTS = 1_000;
const VOTES_PER_NETWORK = 20;
/** Number of voters per network. Each votes for a different product, so the cap per network is not reached. */
const VOTERS_PER_NETWORK = 25;
const BATCHES_PER_ROUND = 60;
const WARM_UP_BATCHES = 10;

/** Votes per statement: one, those of several visitors, and a batch that a busy site collects during a commit. */
const BATCH_SIZES = [1, 16, 128];

/** Number of votes per statement during the warm-up. */
const WARM_UP_BATCH_SIZE = 100;

type Cast = (changes: readonly UpvoteChange[]) => Promise<unknown>;

/**
 * Measures how much launches slow down votes: compares `setUpvotes`, inside and outside launch windows, with the
 * statement of an earlier version without launches. The sides alternate by batch, each on its own database.
 */
export async function compareVotes(server: BenchServer, rounds: number) {
  const statement = await readFile(join(import.meta.dirname, 'baselines/upvotes-without-launches.sql'), 'utf8');
  const [before, outside, inside] = await Promise.all([
    server.createDatabase(PRODUCTS),
    server.createDatabase(PRODUCTS),
    server.createDatabase(PRODUCTS),
  ]);
  await launchNow(inside, 'p-', PRODUCTS);
  const networkCounts = createNetworkCounts();
  const current = (database: BenchDatabase) => (changes: readonly UpvoteChange[]) =>
    setUpvotes(database, systemRuntime, changes, { votesPerNetwork: VOTES_PER_NETWORK, networkCounts });
  const sides: Record<'beforeLaunches' | 'outsideWindow' | 'insideWindow', Cast> = {
    beforeLaunches: castWith(before, statement),
    // For votes outside a launch window, the server passes no network.
    outsideWindow: (changes) => current(outside)(changes.map(({ network: _network, ...change }) => change)),
    insideWindow: current(inside),
  };
  // Warm-up: the first vote for a product also reads the earlier votes of its networks.
  for (let cast = 0; cast < PRODUCTS; cast += WARM_UP_BATCH_SIZE) {
    const changes = votes(WARM_UP_BATCH_SIZE);
    for (const side of Object.values(sides)) await side(changes);
  }
  const results: Record<string, object> = {};
  for (const size of BATCH_SIZES) {
    const ratios = { outsideWindow: [] as number[], insideWindow: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      const took = await castAlternately(sides, size);
      ratios.outsideWindow.push(took.beforeLaunches / took.outsideWindow);
      ratios.insideWindow.push(took.beforeLaunches / took.insideWindow);
    }
    const result = { outsideWindow: spreadOf(ratios.outsideWindow), insideWindow: spreadOf(ratios.insideWindow) };
    results[`batches of ${size}`] = result;
    console.log(
      `votes, batches of ${size}: ${result.outsideWindow.median} × outside a window, ${result.insideWindow.median} × inside`,
    );
  }
  return results;
}

function castWith(database: BenchDatabase, statement: string): Cast {
  return (changes) =>
    database.query(statement, [
      changes.map(({ productId }) => productId),
      changes.map(({ session }) => session),
      changes.map(({ upvoted }) => upvoted),
      changes.map(() => randomUUID()),
      new Date().toISOString(),
    ]);
}

/** Inserts products that launched an hour ago, so they are in their launch window. */
export async function launchNow(database: BenchDatabase, prefix: string, count: number): Promise<void> {
  const products = Array.from({ length: count }, (_, index) =>
    completeProduct({ id: `${prefix}${index}`, name: `Product ${index}` }, new Date(Date.now() - HOUR_MS - index)),
  );
  await saveProducts(database, products);
  await database.query('ANALYZE');
}

/** Casts the same batches on all sides, alternately. @returns the median time per batch of each side, in ms. */
async function castAlternately<Side extends string>(
  sides: Readonly<Record<Side, Cast>>,
  size: number,
): Promise<Record<Side, number>> {
  const names = Object.keys(sides) as Side[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, number[]>;
  for (let batch = 0; batch < BATCHES_PER_ROUND + WARM_UP_BATCHES; batch += 1) {
    const changes = votes(size);
    for (const name of names) {
      const started = performance.now();
      await sides[name](changes);
      if (batch >= WARM_UP_BATCHES) times[name].push(performance.now() - started);
    }
  }
  return Object.fromEntries(names.map((name) => [name, spreadOf(times[name]).median])) as Record<Side, number>;
}

let voters = 0;

function votes(size: number): UpvoteChange[] {
  return Array.from({ length: size }, () => {
    voters += 1;
    const network = Math.floor(voters / VOTERS_PER_NETWORK)
      .toString(16)
      .padStart(32, '0');
    return { productId: `p-${(voters * 7) % PRODUCTS}`, session: `session-${voters}`, upvoted: true, network };
  });
}
