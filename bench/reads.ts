import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedResponse } from './baselines/recorded-responses.ts';
import { COLOURS, drawBars } from './chart.ts';
import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf, memoryMbOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, requireSuccess, runLoad, type Target } from './harness/run-load.ts';
import { type ServerProcess, startBaseline, startSite } from './harness/server-process.ts';
import { ratiosTo, spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import { fillDatabase } from './seed/fill.ts';

const UPVOTES_PER_SECOND = 200;
const ENCODING = 'br';
const SIZES = { products: 1_000, upvotes: 5_000, comments: 2_000, seed: 1 };
const PRODUCT_PAGES = 200;

interface Measured extends LoadResult {
  /** CPU time of the server per request, including the warm-up. */
  cpuUs: number;
  memoryMb: number;
}

type Side = 'bare' | 'fastify' | 'groundswell' | 'underWrites';

/**
 * Measures four sides alternately: a bare `node:http` server and a bare Fastify server that send recorded responses of
 * the site, the site with cached responses, and the site while upvotes change its responses.
 */
export async function reads(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-bench-'));
  const postgres = await startBenchServer();
  const { url, query } = await postgres.createDatabase(0);
  await fillDatabase(url, SIZES);
  const rows = await query<{ id: string }>('SELECT id FROM products ORDER BY md5(id) LIMIT $1', [PRODUCT_PAGES]);
  const ids = rows.map(({ id }) => id);
  const workloads: Record<string, string[]> = {
    'home page': ['/'],
    '200 product pages': ids.map((id) => `/product/${id}`),
    'API, list': ['/api/products'],
    'API, 200 products': ids.map((id) => `/api/products/${id}`),
  };
  const site = await startSite(url);
  const responses: RecordedResponse[] = [];
  for (const path of Object.values(workloads).flat()) responses.push(await recordResponse(site, path));
  const recording = { RESPONSES: join(folder, 'responses.json') };
  await writeFile(recording.RESPONSES, JSON.stringify(responses));
  const bare = await startBaseline('bare-server', recording);
  const fastify = await startBaseline('bare-fastify', recording);
  try {
    const compared: Record<string, ReturnType<typeof compare>> = {};
    for (const [name, paths] of Object.entries(workloads)) {
      const sides: Record<Side, Measured[]> = { bare: [], fastify: [], groundswell: [], underWrites: [] };
      for (let round = 1; round <= options.rounds; round += 1) {
        sides.bare.push(await measure(bare, paths, options));
        sides.fastify.push(await measure(fastify, paths, options));
        // Renders the responses that the previous round's upvotes changed, so the next measurement uses only cached
        // ones.
        for (const path of paths) await recordResponse(site, path);
        sides.groundswell.push(await measure(site, paths, options));
        sides.underWrites.push(await measureUnderWrites(site, paths, ids, options));
        console.log(`${name}, round ${round}: ${Object.values(sides).map(describeLast).join(' | ')}`);
      }
      compared[name] = compare(sides);
    }
    const bytes = Object.fromEntries(
      Object.entries(workloads).map(([name, paths]) => [name, meanBytes(responses, paths)]),
    );
    const results = { ...options, ...SIZES, upvotesPerSecond: UPVOTES_PER_SECOND, bytes, reads: compared };
    await writeResults('reads', results, draw(compared));
  } finally {
    await site.stop();
    await bare.stop();
    await fastify.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Header fields that are not recorded, because the bare servers or Node.js set them. */
const CONNECTION_FIELDS = new Set(['date', 'connection', 'keep-alive', 'content-length']);

/** Records the response for the bare servers. Uses `node:http`, because `fetch` would decompress the body. */
function recordResponse({ address }: ServerProcess, path: string): Promise<RecordedResponse> {
  return new Promise((resolve, reject) => {
    request(`${address}${path}`, { headers: { 'accept-encoding': ENCODING } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const headers: RecordedResponse['headers'] = {};
      for (const [name, value] of Object.entries(response.headers)) {
        if (!CONNECTION_FIELDS.has(name)) headers[name] = String(value);
      }
      resolve({ path, body: Buffer.concat(chunks).toString('base64'), headers });
    })
      .on('error', reject)
      .end();
  });
}

async function measure(server: ServerProcess, paths: readonly string[], options: BenchOptions): Promise<Measured> {
  const { connections, seconds } = options;
  const targets: Target[] = paths.map((path) => ({ method: 'GET', path, acceptEncoding: ENCODING }));
  const cpuBefore = await cpuMsOf(server.pid);
  const result = requireSuccess(await runLoad({ address: server.address, connections, seconds, targets }));
  const cpuUs = (((await cpuMsOf(server.pid)) - cpuBefore) * 1_000) / result.sent;
  return { ...result, cpuUs, memoryMb: await memoryMbOf(server.pid) };
}

async function measureUnderWrites(
  site: ServerProcess,
  paths: readonly string[],
  products: readonly string[],
  options: BenchOptions,
): Promise<Measured> {
  const upvotes = runLoad({
    address: site.address,
    connections: 20,
    // The upvotes last longer than the reads, so all reads run during upvotes, even if their load process starts later.
    seconds: options.seconds + 1,
    targets: products.map((id) => ({ method: 'PUT', path: `/api/products/${id}/upvote` })),
    maxPerSecond: UPVOTES_PER_SECOND,
  });
  const [measured, written] = await Promise.all([measure(site, paths, options), upvotes]);
  const { perSecond } = requireSuccess(written);
  if (perSecond < UPVOTES_PER_SECOND * 0.8)
    console.warn(`Only ${Math.round(perSecond)} of ${UPVOTES_PER_SECOND} upvotes/s were sent`);
  return measured;
}

/** Compares the sides. Ratios come first, because they are comparable between machines. */
function compare({ bare, fastify, groundswell, underWrites }: Record<Side, Measured[]>) {
  return {
    ratios: ratiosOf(groundswell, bare),
    ratiosUnderWrites: ratiosOf(underWrites, bare),
    ratiosToFastify: ratiosOf(groundswell, fastify),
    bare: summarize(bare),
    fastify: summarize(fastify),
    groundswell: summarize(groundswell),
    underWrites: summarize(underWrites),
  };
}

/** Returns the ratios of each round to the same round of a baseline. */
function ratiosOf(results: readonly Measured[], baseline: readonly Measured[]) {
  return {
    throughput: ratiosTo(baseline, results, 'perSecond'),
    p99: ratiosTo(baseline, results, 'p99Ms'),
    cpu: ratiosTo(baseline, results, 'cpuUs'),
  };
}

function summarize(results: readonly Measured[]) {
  return spreadsOf(results, ['perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'memoryMb']);
}

function meanBytes(responses: readonly RecordedResponse[], paths: readonly string[]): number {
  const bytes = responses
    .filter(({ path }) => paths.includes(path))
    .map(({ body }) => Buffer.from(body, 'base64').length);
  return Math.round(bytes.reduce((sum, each) => sum + each, 0) / bytes.length);
}

function describeLast(results: readonly Measured[]): string {
  const last = results.at(-1);
  if (last === undefined) return '';
  return `${Math.round(last.perSecond)}/s, p99 ${last.p99Ms.toFixed(1)} ms, ${last.cpuUs.toFixed(0)} µs`;
}

/** Draws a chart with four bars per workload: the site, the site under writes, and the bare servers. */
function draw(workloads: Readonly<Record<string, ReturnType<typeof compare>>>): string {
  return drawBars({
    title: 'Cached responses per second, and the same bytes from bare servers (medians)',
    series: [
      { name: 'Groundswell', colour: COLOURS.ours },
      { name: 'Groundswell, 200 upvotes/s', colour: '#a5b4fc' },
      { name: 'bare Fastify', colour: '#d1d5db' },
      { name: 'bare node:http', colour: COLOURS.other },
    ],
    rows: Object.entries(workloads).map(([name, { groundswell, underWrites, fastify, bare, ratios }]) => ({
      name,
      values: [groundswell, underWrites, fastify, bare].map(({ perSecond }) => perSecond.median),
      note: `(Groundswell: ${ratios.throughput.median})`,
    })),
    format: (value) => Math.round(value).toLocaleString('en'),
    scale: 'linear',
  });
}
