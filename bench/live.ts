import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { COLOURS, drawBars } from './chart.ts';
import { type BenchDatabase, startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf, memoryMbOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { openStreams, type StreamReport } from './harness/run-streams.ts';
import { startSite } from './harness/server-process.ts';
import type { Latencies } from './harness/statistics.ts';

const PRODUCTS = 1_000;
/** Number of products per page of the API's list. Most streams subscribe to the products of one page. */
const PAGE_SIZE = 30;
const PAGES = 30;
/** One in ten streams subscribes to the counts of all products. */
const ALL_COUNTS_EVERY = 10;

/**
 * `npm run bench -- live`: measures the memory and CPU time of open streams, and the latency of upvotes on them. Flags:
 * `--streams=N` (5,000; fewer than `ulimit -n`), `--upvotes=N` per second (300), `--seconds=N` (60), and `--idle=N`
 * (60): seconds before idle memory is measured, longer than the heartbeat interval.
 */
export async function live(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: {
      streams: { type: 'string', default: '5000' },
      upvotes: { type: 'string', default: '300' },
      seconds: { type: 'string', default: '60' },
      idle: { type: 'string', default: '60' },
    },
  });
  const [streams, upvotesPerSecond, seconds, idleSeconds] = [
    values.streams,
    values.upvotes,
    values.seconds,
    values.idle,
  ].map(Number) as [number, number, number, number];
  const server = await startBenchServer();
  const database = await server.createDatabase(PRODUCTS);
  const site = await startSite(database.url, { MAX_STREAMS: String(streams) });
  try {
    const address = site.address;
    // Warms the site up, so its code is compiled and its cache is filled.
    for (let index = 0; index < 300; index += 1) await fetch(`${address}/api/products?limit=${(index % 100) + 1}`);
    await sleep(2_000);
    const beforeMb = await memoryMbOf(site.pid);
    const clients = await openStreams({
      address,
      streams,
      subscriptions: subscriptions(),
      products: PRODUCTS,
      upvotesPerSecond,
      seconds,
    });
    const openedMb = await memoryMbOf(site.pid);
    await sleep(idleSeconds * 1_000);
    const idleMb = await memoryMbOf(site.pid);
    console.log(
      `${streams} streams: ${beforeMb} MB before, ${openedMb} MB when opened, ${idleMb} MB after ${idleSeconds} s`,
    );
    const cpuBefore = await cpuMsOf(site.pid);
    const startedAt = performance.now();
    const report = await clients.vote();
    const cpuShare = ((await cpuMsOf(site.pid)) - cpuBefore) / (performance.now() - startedAt);
    clients.end();
    await assertComplete(report, database);
    const { latency, deliveries } = report;
    const memory = { beforeMb, openedMb, idleMb, streamsMb: idleMb - beforeMb, busyMb: await memoryMbOf(site.pid) };
    const rates = { streams, upvotesPerSecond, seconds, idleSeconds, products: PRODUCTS };
    const results = {
      ...rates,
      memory,
      latency: rounded(latency),
      deliveries,
      cpuShare: Math.round(cpuShare * 100) / 100,
    };
    await writeResults('live', results, draw(rates, latency));
  } finally {
    await site.stop();
    await server.stop();
  }
}

/** Returns the subscriptions of a busy site: most are for the products of one page, some for all products. */
function subscriptions(): (string[] | null)[] {
  return Array.from({ length: PAGES }, (_, index) => {
    if (index % ALL_COUNTS_EVERY === 0) return null;
    const first = index * PAGE_SIZE;
    return Array.from({ length: PAGE_SIZE }, (_product, offset) => `p-${first + offset}`);
  });
}

async function assertComplete(report: StreamReport, database: BenchDatabase): Promise<void> {
  if (report.closed > 0 || report.deliveries !== report.expected) {
    throw new Error(
      `${report.deliveries} of ${report.expected} deliveries of upvotes arrived; ${report.closed} streams closed early`,
    );
  }
  const rows = await database.query<{ product_id: string; upvotes: number }>('SELECT * FROM product_counts');
  const stored = new Map(rows.map(({ product_id: id, upvotes }) => [id, upvotes]));
  for (const counts of report.finalCounts) {
    for (const [id, upvotes] of Object.entries(counts)) {
      if (stored.get(id) !== upvotes) throw new Error(`${id}: ${upvotes} on the streams, ${stored.get(id)} stored`);
    }
  }
}

function rounded(latency: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(latency).map(([name, ms]) => [name, Math.round(ms)]));
}

function draw(
  { streams, upvotesPerSecond }: { streams: number; upvotesPerSecond: number },
  { p50Ms, p95Ms, p99Ms, maxMs }: Latencies,
): string {
  return drawBars({
    title: `From an upvote to ${streams.toLocaleString('en')} open pages, ${upvotesPerSecond} upvotes/s`,
    series: [{ name: 'milliseconds', colour: COLOURS.ours }],
    rows: [
      { name: 'p50', values: [p50Ms] },
      { name: 'p95', values: [p95Ms] },
      { name: 'p99', values: [p99Ms] },
      { name: 'maximum', values: [maxMs] },
    ],
    format: (ms) => `${Math.round(ms)} ms`,
    scale: 'linear',
  });
}
