import { loadavg } from 'node:os';
import { checkCounts } from '../src/core/counts/check-counts.ts';
import { COLOURS, drawBars } from './chart.ts';
import { type BenchDatabase, type BenchServer, startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, requireSuccess, runLoad, type Target } from './harness/run-load.ts';
import { type ServerProcess, startBaseline, startSite } from './harness/server-process.ts';
import { ratiosTo, spreadOf, spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import { compareWithBaselines } from './upvote-baselines.ts';
import { compareVotes, launchNow } from './votes-and-launches.ts';

const PRODUCTS = 1_000;
/** The size of the site's connection pool. The baseline uses the same size. */
const POOL_SIZE = 10;

interface Side {
  server: ServerProcess;
  database: BenchDatabase;
  /** The id of the comment that receives the likes. */
  commentId: string;
  succeeded: Record<Workload, number>;
}

type Workload = keyof typeof WORKLOADS;

const upvote = (index: number, prefix = 'p-'): Target => ({
  method: 'PUT',
  path: `/api/products/${prefix}${index}/upvote`,
});
const comment = (index: number): Target => ({
  method: 'POST',
  path: '/api/comments',
  body: JSON.stringify({ productId: `p-${index}`, content: 'Works well for us, and the release notes are honest.' }),
});
const products = Array.from({ length: PRODUCTS }, (_, index) => index);

const WORKLOADS = {
  'upvotes, 1,000 products': () => products.map((index) => upvote(index)),
  'upvotes, in a launch window': () => products.map((index) => upvote(index, 'w-')),
  'upvotes, one product': () => [upvote(0)],
  'comments, 1,000 products': () => products.map(comment),
  'likes, one comment': ({ commentId }: Side): Target[] => [
    { method: 'POST', path: `/api/comments/${commentId}/like` },
  ],
};
const WORKLOAD_NAMES = Object.keys(WORKLOADS) as Workload[];
/** The workloads to compare with the baseline, which does not support launches. */
const COMPARED = WORKLOAD_NAMES.filter((name) => name !== 'upvotes, in a launch window');

/**
 * Compares writes over HTTP to the site with writes to a plain server that runs one transaction per request. Both use
 * one PostgreSQL server, and the measurements alternate, so other load on the machine affects both.
 */
export async function writes(options: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const sides: Record<'groundswell' | 'oneTransaction', Side> = {
    groundswell: await startSide(server, ({ url }) => startSite(url)),
    oneTransaction: await startSide(server, ({ url }) =>
      startBaseline('one-transaction', { DATABASE_URL: url, POOL_SIZE: String(POOL_SIZE) }),
    ),
  };
  try {
    const workloads: Record<string, ReturnType<typeof compare>> = {};
    for (const workload of COMPARED) {
      const ours: LoadResult[] = [];
      const theirs: LoadResult[] = [];
      for (let round = 1; round <= options.rounds; round += 1) {
        ours.push(await measure(sides.groundswell, workload, options));
        theirs.push(await measure(sides.oneTransaction, workload, options));
        console.log(`${workload}, round ${round}: ${summary(ours.at(-1))} against ${summary(theirs.at(-1))}`);
      }
      workloads[workload] = compare(ours, theirs);
    }
    const launches = {
      note: 'overHttp: throughput relative to votes outside a launch window. statement: speed relative to the statement without launches',
      overHttp: await measureWindow(sides.groundswell, options),
      statement: await compareVotes(server, options.rounds),
    };
    for (const side of Object.values(sides)) await assertNoDrift(side);
    const baselines = await compareWithBaselines(server, PRODUCTS, options);
    const results = {
      ...options,
      products: PRODUCTS,
      poolSize: POOL_SIZE,
      drift: 0,
      load: loadavg(),
      workloads,
      baselines,
      launches,
    };
    await writeResults('writes', results, draw(workloads));
  } finally {
    for (const side of Object.values(sides)) await side.server.stop();
    await server.stop();
  }
}

async function startSide(
  server: BenchServer,
  start: (database: BenchDatabase) => Promise<ServerProcess>,
): Promise<Side> {
  const database = await server.createDatabase(PRODUCTS);
  const commentId = '00000000-0000-4000-8000-000000000001';
  await database.query("INSERT INTO comments (id, product_id, content) VALUES ($1, 'p-0', 'Like me')", [commentId]);
  await database.query("UPDATE product_counts SET comments = 1 WHERE product_id = 'p-0'");
  const succeeded = Object.fromEntries(WORKLOAD_NAMES.map((name) => [name, 0])) as Side['succeeded'];
  return { server: await start(database), database, commentId, succeeded };
}

async function measure(
  side: Side,
  workload: Workload,
  { connections, seconds }: BenchOptions,
  isSpread = false,
): Promise<LoadResult> {
  const targets = WORKLOADS[workload](side);
  const { address } = side.server;
  const result = requireSuccess(await runLoad({ address, connections, seconds, targets, isSpread }));
  side.succeeded[workload] += result.succeeded;
  return result;
}

/**
 * Compares votes for products in their launch window with votes for products that launched long ago, alternately on the
 * same site. Each connection uses its own source address, because one address would soon exceed the cap on votes.
 */
async function measureWindow(side: Side, options: BenchOptions) {
  await launchNow(side.database, 'w-', PRODUCTS);
  const ratios: number[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const outside = await measure(side, 'upvotes, 1,000 products', options, true);
    const inside = await measure(side, 'upvotes, in a launch window', options, true);
    ratios.push(inside.perSecond / outside.perSecond);
    console.log(`launch windows, round ${round}: ${summary(inside)} inside against ${summary(outside)} outside`);
  }
  return { insideWindow: spreadOf(ratios) };
}

/** Compares the sides. Ratios come first, because they are comparable between machines. */
function compare(ours: readonly LoadResult[], theirs: readonly LoadResult[]) {
  const spreads = (results: readonly LoadResult[]) => spreadsOf(results, ['perSecond', 'p50Ms', 'p99Ms']);
  return {
    throughputRatio: ratiosTo(theirs, ours, 'perSecond'),
    p99Ratio: ratiosTo(theirs, ours, 'p99Ms'),
    groundswell: spreads(ours),
    oneTransaction: spreads(theirs),
  };
}

/** Checks that each count equals its number of rows, and that all acknowledged writes are stored. */
async function assertNoDrift({ database, succeeded, commentId }: Side): Promise<void> {
  const { wrong } = await checkCounts(database, { after: '', limit: 2 * PRODUCTS });
  const [stored] = await database.query<{ upvotes: number; comments: number; likes: number }>(
    `SELECT (SELECT count(*)::integer FROM upvotes) AS upvotes, (SELECT count(*)::integer - 1 FROM comments) AS comments,
       (SELECT likes FROM comments WHERE id = $1) AS likes`,
    [commentId],
  );
  const expected = {
    upvotes:
      succeeded['upvotes, 1,000 products'] +
      succeeded['upvotes, one product'] +
      succeeded['upvotes, in a launch window'],
    comments: succeeded['comments, 1,000 products'],
    likes: succeeded['likes, one comment'],
  };
  if (wrong.length > 0 || JSON.stringify(stored) !== JSON.stringify(expected)) {
    throw new Error(
      `${wrong.length} counts differ from their rows; stored ${JSON.stringify(stored)} of ${JSON.stringify(expected)} acknowledged`,
    );
  }
}

function summary(result: LoadResult | undefined): string {
  return result === undefined ? '' : `${Math.round(result.perSecond)}/s (p99 ${Math.round(result.p99Ms)} ms)`;
}

/** Draws a chart with two bars per workload: the site and the baseline. */
function draw(workloads: Readonly<Record<string, ReturnType<typeof compare>>>): string {
  return drawBars({
    title: 'Writes per second over HTTP (median of the rounds)',
    series: [
      { name: 'Groundswell', colour: COLOURS.ours },
      { name: 'one transaction per request', colour: COLOURS.other },
    ],
    rows: Object.entries(workloads).map(([name, { groundswell, oneTransaction, throughputRatio }]) => ({
      name,
      values: [groundswell.perSecond.median, oneTransaction.perSecond.median],
      note: `(${throughputRatio.median.toFixed(1)} ×)`,
    })),
    format: (value) => Math.round(value).toLocaleString('en'),
    scale: 'linear',
  });
}
