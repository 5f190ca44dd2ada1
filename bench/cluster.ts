import { availableParallelism, loadavg } from 'node:os';
import { assertCountsRight } from './cluster/counts.ts';
import { type Freshness, measureFreshness } from './cluster/freshness.ts';
import { addUp, loadSide, type SideLoad } from './cluster/load-side.ts';
import { type Side, startSide } from './cluster/side.ts';
import { drawCluster } from './cluster-chart.ts';
import { startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import type { Target } from './harness/run-load.ts';
import { spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './main.ts';

const PRODUCTS = 1_000;
/** Of the site while it is measured how soon one process shows what another wrote. */
const BUSY_UPVOTES_PER_SECOND = 200;
const FRESHNESS_SECONDS = 30;
const MOST_PROCESSES = 8;

const get = (path: string): Target[] => [{ method: 'GET', path, acceptEncoding: 'br' }];
const WORKLOADS: Record<string, readonly Target[]> = {
  'home page, kept': get('/'),
  'API, list, kept': get('/api/products'),
  'upvotes, 1,000 products': Array.from({ length: PRODUCTS }, (_, index) => ({
    method: 'PUT',
    path: `/api/products/p-${index}/upvote`,
  })),
};

/**
 * What several processes bring: one, and as many as there are cores, on one port by WEB_CONCURRENCY, and two sites on two
 * ports, each side with a database of its own on one PostgreSQL, in turns. Then how soon each of the two sites shows what was
 * upvoted on the other. Each side is asked by two processes that load it.
 */
export async function cluster(options: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const sides: Side[] = [];
  try {
    for (const processes of processNumbers()) {
      const name = processes === 1 ? 'one process' : `${processes} processes, one port`;
      sides.push(await startSide(await server.createDatabase(PRODUCTS), { name, processes, sites: 1 }));
    }
    const two = await startSide(await server.createDatabase(PRODUCTS), { name: 'two sites', processes: 1, sites: 2 });
    sides.push(two);
    const workloads: Record<string, ReturnType<typeof compare>> = {};
    const load = { before: loadavg()[0], after: 0 };
    for (const [name, targets] of Object.entries(WORKLOADS)) {
      const measured = new Map(sides.map((side): [Side, SideLoad[]] => [side, []]));
      for (let round = 1; round <= options.rounds; round += 1) {
        for (const side of sides) measured.get(side)?.push(await loadSide(side, targets, options));
        const last = [...measured].map(([side, results]) => `${side.name} ${describe(results.at(-1))}`);
        console.log(`${name}, round ${round}: ${last.join(' | ')}`);
      }
      workloads[name] = compare(measured);
    }
    const watch = (upvotesPerSecond: number) =>
      measureFreshness(two, { seconds: FRESHNESS_SECONDS, upvotesPerSecond, products: PRODUCTS });
    const freshness: Record<'quiet' | 'busy', Freshness> = {
      quiet: await watch(0),
      busy: await watch(BUSY_UPVOTES_PER_SECOND),
    };
    for (const side of sides) await assertCountsRight(side);
    load.after = loadavg()[0] ?? 0;
    const upvotes = Object.fromEntries(sides.map(({ name, upvotes: stored }) => [name, stored]));
    const conditions = { products: PRODUCTS, loadAverage: load, busyUpvotesPerSecond: BUSY_UPVOTES_PER_SECOND };
    const results = { ...options, ...conditions, workloads, freshness, upvotes, drift: 0 };
    await writeResults('cluster', results, drawCluster(freshness));
  } finally {
    for (const side of sides) await side.stop();
    await server.stop();
  }
}

/** One, two, and twice as many as long as there are cores for them. */
function processNumbers(): number[] {
  const most = Math.min(MOST_PROCESSES, Math.max(2, availableParallelism()));
  const numbers: number[] = [];
  for (let processes = 1; processes <= most; processes *= 2) numbers.push(processes);
  return numbers;
}

/** Beside each side's own numbers those by which one process's are to be multiplied: these another machine may find as well. */
function compare(measured: ReadonlyMap<Side, readonly SideLoad[]>) {
  const [one = []] = measured.values();
  const perSide = [...measured].map(([{ name }, results]) => {
    const spread = (of: (result: SideLoad) => number) => spreadOf(results.map(of));
    const summary = {
      timesOneProcess: spreadOf(
        results.map(({ perSecond }, round) => perSecond / (one[round]?.perSecond ?? perSecond)),
      ),
      perSecond: spread(({ perSecond }) => perSecond),
      p50Ms: spread(({ p50Ms }) => p50Ms),
      p99Ms: spread(({ p99Ms }) => p99Ms),
      siteCpuUs: spread(({ siteCpuUs }) => siteCpuUs),
      siteCores: spread(({ siteCores }) => siteCores),
      machineCores: spread(({ machineCores }) => machineCores),
    };
    return [name, summary] as const;
  });
  return Object.fromEntries(perSide);
}

function describe(result: SideLoad = addUp([])): string {
  return `${Math.round(result.perSecond)}/s, p99 ${Math.round(result.p99Ms)} ms, ${result.siteCpuUs.toFixed(0)} µs, ${result.siteCores.toFixed(2)} cores`;
}
