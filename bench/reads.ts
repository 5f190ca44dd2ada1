import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BareAnswer } from './baselines/bare-server.ts';
import { cpuMsOf, memoryMbOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, runLoad, type Target } from './harness/run-load.ts';
import { type ServerProcess, startBaseline, startSite } from './harness/server-process.ts';
import { spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './main.ts';
import { drawReads } from './reads-chart.ts';

const UPVOTES_PER_SECOND = 200;
const ENCODING = 'br';
const READS: Record<string, string> = {
  'home page': '/',
  'product page': '/product/git',
  'API, list': '/api/products',
  'API, product': '/api/products/git',
};

interface Measured extends LoadResult {
  /** Of the server, in the measured time and the warm-up, for each answer. */
  cpuUs: number;
  memoryMb: number;
}

type Side = 'bare' | 'groundswell' | 'underWrites';

/**
 * Cached answers of the site with its sample catalogue, and a bare server that sends the same bytes: in turns, and the
 * site also while upvotes arrive that change what is read. Under writes, the bare server gets none: it has the machine to itself.
 */
export async function reads(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-bench-'));
  const site = await startSite('', { DATA_DIR: join(folder, 'data') });
  const products = await productIds(site);
  const answers = await Promise.all(Object.values(READS).map((path) => fetchAnswer(site, path)));
  await writeFile(join(folder, 'answers.json'), JSON.stringify(answers));
  const bare = await startBaseline('bare-server', { ANSWERS: join(folder, 'answers.json') });
  try {
    const compared: Record<string, ReturnType<typeof compare>> = {};
    for (const [name, path] of Object.entries(READS)) {
      const sides: Record<Side, Measured[]> = { bare: [], groundswell: [], underWrites: [] };
      for (let round = 1; round <= options.rounds; round += 1) {
        sides.bare.push(await measure(bare, path, options));
        sides.groundswell.push(await measure(site, path, options));
        sides.underWrites.push(await measureUnderWrites(site, path, products, options));
        console.log(`${name}, round ${round}: ${Object.values(sides).map(describeLast).join(' | ')}`);
      }
      compared[name] = compare(sides);
    }
    const bytes = Object.fromEntries(Object.keys(READS).map((name, index) => [name, sizeOf(answers[index])]));
    const results = { ...options, upvotesPerSecond: UPVOTES_PER_SECOND, bytes, reads: compared };
    await writeResults('reads', results, drawReads(compared));
  } finally {
    await site.stop();
    await bare.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function productIds({ address }: ServerProcess): Promise<string[]> {
  const page: { items: { id: string }[] } = await (await fetch(`${address}/api/products`)).json();
  return page.items.map(({ id }) => id);
}

/** Fields that every server of Node writes by itself. */
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'content-length']);

/** The bytes as they go over the wire, head and all, which `fetch` would unpack. */
function fetchAnswer({ address }: ServerProcess, path: string): Promise<BareAnswer> {
  return new Promise((resolve, reject) => {
    request(`${address}${path}`, { headers: { 'accept-encoding': ENCODING } }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const headers: BareAnswer['headers'] = {};
      for (const [name, value] of Object.entries(response.headers)) {
        if (!OF_THE_CONNECTION.has(name)) headers[name] = String(value);
      }
      resolve({ path, body: Buffer.concat(chunks).toString('base64'), headers });
    })
      .on('error', reject)
      .end();
  });
}

async function measure(server: ServerProcess, path: string, options: BenchOptions): Promise<Measured> {
  const { connections, seconds } = options;
  const targets: Target[] = [{ method: 'GET', path, acceptEncoding: ENCODING }];
  const cpuBefore = await cpuMsOf(server.pid);
  const result = await runLoad({ address: server.address, connections, seconds, targets });
  const cpuUs = (((await cpuMsOf(server.pid)) - cpuBefore) * 1_000) / result.asked;
  if (result.succeeded !== result.asked)
    throw new Error(`Not everything succeeded: ${JSON.stringify(result.statuses)}`);
  return { ...result, cpuUs, memoryMb: await memoryMbOf(server.pid) };
}

async function measureUnderWrites(
  site: ServerProcess,
  path: string,
  products: readonly string[],
  options: BenchOptions,
): Promise<Measured> {
  const upvotes = runLoad({
    address: site.address,
    connections: 20,
    // Longer than the reads take, with their process's start.
    seconds: options.seconds + 1,
    targets: products.map((id) => ({ method: 'PUT', path: `/api/products/${id}/upvote` })),
    maxPerSecond: UPVOTES_PER_SECOND,
  });
  const [measured, { perSecond, succeeded, asked }] = await Promise.all([measure(site, path, options), upvotes]);
  if (succeeded !== asked) throw new Error('Not every upvote succeeded');
  if (perSecond < UPVOTES_PER_SECOND * 0.8) console.warn(`Only ${Math.round(perSecond)} upvotes a second`);
  return measured;
}

/** Ratios first: they are what another machine will find as well. */
function compare({ bare, groundswell, underWrites }: Record<Side, Measured[]>) {
  const ratio = (results: readonly Measured[], of: (result: Measured) => number) =>
    spreadOf(results.map((result, round) => of(result) / of(bare[round] ?? result)));
  const summary = (results: readonly Measured[]) => ({
    perSecond: spreadOf(results.map(({ perSecond }) => perSecond)),
    p50Ms: spreadOf(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: spreadOf(results.map(({ p99Ms }) => p99Ms)),
    cpuUs: spreadOf(results.map(({ cpuUs }) => cpuUs)),
    memoryMb: spreadOf(results.map(({ memoryMb }) => memoryMb)),
  });
  const ratios = (results: readonly Measured[]) => ({
    throughput: ratio(results, ({ perSecond }) => perSecond),
    p99: ratio(results, ({ p99Ms }) => p99Ms),
    cpu: ratio(results, ({ cpuUs }) => cpuUs),
  });
  return {
    ratios: ratios(groundswell),
    ratiosUnderWrites: ratios(underWrites),
    bare: summary(bare),
    groundswell: summary(groundswell),
    underWrites: summary(underWrites),
  };
}

export type ReadComparison = ReturnType<typeof compare>;

function sizeOf(answer: BareAnswer | undefined): number {
  return Buffer.from(answer?.body ?? '', 'base64').length;
}

function describeLast(results: readonly Measured[]): string {
  const last = results.at(-1);
  if (last === undefined) return '';
  return `${Math.round(last.perSecond)}/s, p99 ${last.p99Ms.toFixed(1)} ms, ${last.cpuUs.toFixed(0)} µs`;
}
