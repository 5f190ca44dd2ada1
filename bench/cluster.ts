import { availableParallelism, loadavg } from 'node:os';
import { COLOURS, drawBars } from './chart.ts';
import { assertCountsRight } from './cluster/counts.ts';
import { type Freshness, measureFreshness } from './cluster/freshness.ts';
import { loadSide, type SideLoad } from './cluster/load-side.ts';
import { type Side, startSide } from './cluster/side.ts';
import { startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import type { Target } from './harness/run-load.ts';
import { ratiosTo, spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

const PRODUCTS = 1_000;
/** Upvotes per second on other products while freshness is measured under load. */
const BUSY_UPVOTES_PER_SECOND = 200;
const FRESHNESS_SECONDS = 30;
const MAX_PROCESSES = 8;

const get = (path: string): Target[] => [{ method: 'GET', path, acceptEncoding: 'br' }];
const WORKLOADS: Record<string, readonly Target[]> = {
  'home page, cached': get('/'),
  'API, list, cached': get('/api/products'),
  'upvotes, 1,000 products': Array.from({ length: PRODUCTS }, (_, index) => ({
    method: 'PUT',
    path: `/api/products/p-${index}/upvote`,
  })),
};

/**
 * Measures the throughput of one process, of two or more processes on one port, and of two sites on two ports. Each
 * side has its own database on the same PostgreSQL server, and two load processes. The sides alternate. Then measures
 * how soon one of two sites shows an upvote that the other received.
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
    await writeResults('cluster', results, draw(freshness));
  } finally {
    for (const side of sides) await side.stop();
    await server.stop();
  }
}

/** Returns the numbers of processes to measure: 1 and 2, and also 4 and 8 on machines with at least that many cores. */
function processNumbers(): number[] {
  const most = Math.min(MAX_PROCESSES, Math.max(2, availableParallelism()));
  const numbers: number[] = [];
  for (let processes = 1; processes <= most; processes *= 2) numbers.push(processes);
  return numbers;
}

/** Summarizes each side. Ratios to one process come first, because they are comparable between machines. */
function compare(measured: ReadonlyMap<Side, readonly SideLoad[]>) {
  const [one = []] = measured.values();
  const perSide = [...measured].map(([{ name }, results]) => {
    const summary = {
      timesOneProcess: ratiosTo(one, results, 'perSecond'),
      ...spreadsOf(results, ['perSecond', 'p50Ms', 'p99Ms', 'siteCpuUs', 'siteCores', 'machineCores']),
    };
    return [name, summary] as const;
  });
  return Object.fromEntries(perSide);
}

function describe(result: SideLoad | undefined): string {
  if (result === undefined) return '';
  return `${Math.round(result.perSecond)}/s, p99 ${Math.round(result.p99Ms)} ms, ${result.siteCpuUs.toFixed(0)} µs, ${result.siteCores.toFixed(2)} cores`;
}

/**
 * Draws a chart of the time from an upvote on one site until the other shows it. Each row has two bars: without other
 * load, and during other upvotes.
 */
function draw({ quiet, busy }: Readonly<Record<'quiet' | 'busy', Freshness>>): string {
  const seen = { API: 'api', page: 'page', stream: 'stream' } as const;
  return drawBars({
    title: 'From an upvote on one of two sites until the other one shows it',
    series: [
      { name: 'without other load', colour: COLOURS.ours },
      { name: '200 other upvotes/s', colour: '#a5b4fc' },
    ],
    rows: Object.entries(seen).flatMap(([name, key]) => [
      { name: `${name}, p50`, values: [quiet[key].p50Ms, busy[key].p50Ms] },
      { name: `${name}, p95`, values: [quiet[key].p95Ms, busy[key].p95Ms] },
    ]),
    format: (ms) => `${Math.round(ms)} ms`,
    scale: 'linear',
  });
}
