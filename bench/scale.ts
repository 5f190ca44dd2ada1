import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openDatabase } from '../src/core/database/database.ts';
import { startThrowawayCluster } from '../tests/support/throwaway-cluster.ts';
import { COLOURS, drawBars } from './chart.ts';
import { BENCH_LOG, createMigratedDatabase } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import { quantile } from './harness/statistics.ts';
import { READS, type Read, type Target } from './scale/reads.ts';
import { openSide, type Side } from './scale/side.ts';
import { fillDatabase } from './seed/fill.ts';

/** Number of connections to each database, as in the site's default pool. */
const CONNECTIONS = 10;
const SMALL = 1_000;
const WARM_UP = 10;

interface Measured {
  name: string;
  small: Timing;
  large: Timing;
  p50Ratio: number;
  target: Target;
  held: boolean | undefined;
}

interface Timing {
  p50Ms: number;
  p95Ms: number;
}

/**
 * `npm run bench -- scale`: measures each uncached read with 1,000 and with 1,000,000 products (`--products=N`). The
 * measurements alternate between two databases of one server, so other load on the machine affects both.
 */
export async function scale(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: { products: { type: 'string', default: '1000000' }, on: { type: 'string', multiple: true } },
  });
  if (values.on !== undefined) return measureSeeded(values.on);
  const products = Number(values.products);
  // The measurement writes no rows, so durability does not matter.
  const cluster = await startThrowawayCluster({ durability: 'none' });
  const sides: Side[] = [];
  try {
    for (const size of [SMALL, products]) sides.push(await makeSide(cluster.url, size));
    await measureAll(sides);
  } finally {
    for (const { database } of sides) await database.close();
    await cluster.stop();
  }
}

/**
 * `-- scale --on URL --on URL`: measures two databases that `seed` has already filled. The first URL must be that of
 * the smaller one.
 */
async function measureSeeded(urls: readonly string[]): Promise<void> {
  const databases = urls.map((url) =>
    openDatabase({ url, log: BENCH_LOG, maxConnections: CONNECTIONS, statementTimeoutMs: 0 }),
  );
  try {
    const sides = databases.map(async (database) => {
      const [row] = await database.query<{ products: number }>('SELECT count(*)::integer AS products FROM products');
      return openSide(database, row?.products ?? 0);
    });
    await measureAll(await Promise.all(sides));
  } finally {
    for (const database of databases) await database.close();
  }
}

async function measureAll([small, large]: readonly Side[]): Promise<void> {
  if (!small || !large) throw new Error('The comparison needs two databases: add --on URL twice');
  const reads: Measured[] = [];
  const startedUnder = loadavg();
  for (const read of READS) {
    const measured = await measure(read, small, large);
    reads.push(measured);
    console.log(summary(measured));
  }
  const sizes = [small.products, large.products];
  // The machine's load average indicates how reliable the absolute numbers are.
  const load = { before: startedUnder, after: loadavg() };
  await writeResults('scale', { sizes, load, reads }, draw(reads, sizes));
}

async function makeSide(serverUrl: string, products: number): Promise<Side> {
  const database = await createMigratedDatabase(serverUrl, `scale_${products}`, CONNECTIONS);
  await fillDatabase(database.url, { products, upvotes: products * 5, comments: products * 2, seed: 1 });
  return openSide(database, products);
}

async function measure(read: Read, small: Side, large: Side): Promise<Measured> {
  const requests = await Promise.all([small, large].map((side) => read.prepare(side, read.times + WARM_UP)));
  const took: number[][] = [[], []];
  for (let index = 0; index < read.times + WARM_UP; index += 1) {
    for (const [side, requestsOfSide] of requests.entries()) {
      const started = performance.now();
      await requestsOfSide[index]?.();
      if (index >= WARM_UP) took[side]?.push(performance.now() - started);
    }
  }
  const [smallTiming, largeTiming] = took.map(timingOf);
  if (!smallTiming || !largeTiming) throw new Error('The comparison needs two databases');
  const p50Ratio = rounded(largeTiming.p50Ms / smallTiming.p50Ms);
  const { name, target } = read;
  return { name, small: smallTiming, large: largeTiming, p50Ratio, target, held: holds(target, p50Ratio, largeTiming) };
}

function timingOf(times: readonly number[]): Timing {
  const sorted = Float64Array.from(times).sort();
  return { p50Ms: rounded(quantile(sorted, 0.5)), p95Ms: rounded(quantile(sorted, 0.95)) };
}

function holds(target: Target, p50Ratio: number, large: Timing): boolean | undefined {
  if (target === undefined) return undefined;
  return 'p50Ratio' in target ? p50Ratio <= target.p50Ratio : large.p95Ms <= target.p95Ms;
}

function summary({ name, small, large, p50Ratio, held }: Measured): string {
  const timing = ({ p50Ms, p95Ms }: Timing) => `${p50Ms} ms (p95 ${p95Ms})`.padEnd(24);
  return `${name.padEnd(36)} ${timing(small)} ${timing(large)} ${p50Ratio} × ${held === false ? 'MISSED' : ''}`;
}

function draw(reads: readonly Measured[], sizes: readonly number[]): string {
  return drawBars({
    title: 'Uncached reads, median (logarithmic)',
    series: sizes.map((size, index) => ({
      name: `${size.toLocaleString('en')} products`,
      colour: index === 0 ? COLOURS.other : COLOURS.ours,
    })),
    rows: reads.map(({ name, small, large, p50Ratio }) => ({
      name,
      values: [small.p50Ms, large.p50Ms],
      note: `(${p50Ratio.toFixed(1)} ×)`,
    })),
    format: (value) => `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`,
    scale: 'log',
  });
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
