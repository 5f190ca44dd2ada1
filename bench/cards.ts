import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf, memoryMbOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, runLoad } from './harness/run-load.ts';
import { startSite } from './harness/server-process.ts';
import { spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

/** Number of uncached cards per round. */
const CARDS_PER_ROUND = 1_000;
const CARD_CONNECTIONS = 16;
const READER_CONNECTIONS = 4;
/** Low enough that neither the load process nor the machine is saturated, because response times are measured. */
const READS_PER_SECOND = 400;

const reads = [{ method: 'GET' as const, path: '/' }];
const pictures = join(import.meta.dirname, '../catalogue/pictures');

/**
 * Measures response times of the home page, alternately without other load and while uncached cards are rendered, 1,000
 * per round. Also measures the CPU time per card, uncached and cached, and the memory of the worker and the site.
 */
export async function cards({ rounds, seconds }: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const database = await server.createDatabase(rounds * CARDS_PER_ROUND);
  await addPictures(database);
  const site = await startSite(database.url);
  const read = () =>
    runLoad({
      address: site.address,
      connections: READER_CONNECTIONS,
      seconds,
      targets: reads,
      maxPerSecond: READS_PER_SECOND,
    });
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  const rendered: RenderedCards[] = [];
  try {
    await fetchCard(site.address, 'og.png');
    for (let round = 0; round < rounds; round += 1) {
      const left = Array.from({ length: CARDS_PER_ROUND }, (_, index) => `og/p-${round * CARDS_PER_ROUND + index}.png`);
      const turns: RenderedCards[] = [];
      // The two measurements alternate quickly, so other load on the machine affects both equally.
      while (left.length > 0) {
        alone.push(await read());
        let isReading = true;
        const rendering = renderCards(site, left, () => isReading);
        beside.push(await read());
        isReading = false;
        turns.push(await rendering);
      }
      rendered.push(...turns);
      console.log(
        `Round ${round + 1}:`,
        summary(alone).p99Ms.median,
        'ms (p99) alone,',
        summary(beside).p99Ms.median,
        'ms while rendering cards',
        turns.at(-1),
      );
    }
    const cachedCpuMs = await cachedCardCpuMs(site, `og/p-${(rounds - 1) * CARDS_PER_ROUND}.png`);
    await writeResults('cards', {
      rounds,
      seconds,
      cardsPerRound: CARDS_PER_ROUND,
      home: { alone: summary(alone), besideCards: summary(beside) },
      p99Ratio: summary(beside).p99Ms.median / summary(alone).p99Ms.median,
      cards: {
        ...spreadsOf(rendered, ['perSecond', 'cpuMsEach']),
        substitutes: rendered.reduce((sum, { substitutes }) => sum + substitutes, 0),
        cachedCpuMsEach: cachedCpuMs,
      },
      memoryMb: {
        worker: Math.max(...rendered.map(({ workerMb }) => workerMb)),
        site: Math.max(...rendered.map(({ siteMb }) => siteMb)),
      },
    });
  } finally {
    await site.stop();
    await server.stop();
  }
}

/** Gives each product one of the catalogue's pictures and a description. */
async function addPictures(database: { query(sql: string, values?: unknown[]): Promise<unknown> }): Promise<void> {
  const names = (await readdir(pictures, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== 'avatars')
    .map(({ name }) => `/pictures/${name}/tile.svg`);
  await database.query(
    "UPDATE products SET image = ($1::text[])[1 + abs(hashtext(id)) % $2::integer], description = 'Shows the waves of a day, and lets everybody say which of them was worth the climb. It needs no account.'",
    [names, names.length],
  );
}

interface RenderedCards {
  perSecond: number;
  /** CPU time of the worker per card. */
  cpuMsEach: number;
  /** Number of requests that got a substitute, such as the site's card, instead of the product's card. */
  substitutes: number;
  workerMb: number;
  siteMb: number;
}

/** Takes cards from `left` and requests them while `continues` returns true. */
async function renderCards(
  { address, pid }: { address: string; pid: number },
  left: string[],
  continues: () => boolean,
): Promise<RenderedCards> {
  const worker = await workerOf(pid);
  const [startedAt, cpuBefore] = [performance.now(), await cpuMsOf(worker)];
  let [requested, substitutes] = [0, 0];
  const one = async () => {
    while (continues()) {
      const id = left.pop();
      if (id === undefined) return;
      requested += 1;
      if (!(await fetchCard(address, id))) substitutes += 1;
    }
  };
  await Promise.all(Array.from({ length: CARD_CONNECTIONS }, one));
  return {
    perSecond: (requested / (performance.now() - startedAt)) * 1_000,
    cpuMsEach: ((await cpuMsOf(worker)) - cpuBefore) / requested,
    substitutes,
    workerMb: await memoryMbOf(worker),
    siteMb: await memoryMbOf(pid),
  };
}

/** @returns whether the response is the product's card. A substitute has no ETag. */
async function fetchCard(address: string, path: string): Promise<boolean> {
  const response = await fetch(`${address}/${path}`);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path}: status ${response.status}`);
  return response.headers.get('etag') !== null;
}

async function cachedCardCpuMs({ address, pid }: { address: string; pid: number }, path: string): Promise<number> {
  const worker = await workerOf(pid);
  const before = await cpuMsOf(worker);
  for (let count = 0; count < 200; count += 1) await fetchCard(address, path);
  return ((await cpuMsOf(worker)) - before) / 200;
}

/** Returns the process id of the card worker among the child processes of the site. */
async function workerOf(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('card-worker'));
  if (found === undefined) throw new Error('The site has no card worker');
  return Number(found);
}

function summary(results: readonly LoadResult[]) {
  return spreadsOf(results, ['perSecond', 'p50Ms', 'p99Ms']);
}
