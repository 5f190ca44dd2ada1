import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf, memoryMbOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, runLoad } from './harness/run-load.ts';
import { startSite } from './harness/server-process.ts';
import { spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './main.ts';

/** Each round asks for as many cards as nobody asked for before. */
const CARDS_PER_ROUND = 1_000;
const CARD_CONNECTIONS = 16;
const READER_CONNECTIONS = 4;
/** Few enough that neither the reader nor the machine is busy by itself: what is measured is the wait. */
const READS_PER_SECOND = 400;

const reads = [{ method: 'GET' as const, path: '/' }];
const pictures = join(import.meta.dirname, '../catalogue/pictures');

/**
 * The home page alone, and while cards that nobody asked for before are drawn, 1,000 a round, in turns. Then what one card costs its process,
 * what it costs when it is kept, and how large that process becomes.
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
  const drawn: CardsDrawn[] = [];
  try {
    await fetchCard(site.address, 'og.png');
    for (let round = 0; round < rounds; round += 1) {
      const left = Array.from({ length: CARDS_PER_ROUND }, (_, index) => `og/p-${round * CARDS_PER_ROUND + index}.png`);
      const turns: CardsDrawn[] = [];
      // In short turns, so that whatever else the machine does meets both sides.
      while (left.length > 0) {
        alone.push(await read());
        let isReading = true;
        const drawing = drawCards(site, left, () => isReading);
        beside.push(await read());
        isReading = false;
        turns.push(await drawing);
      }
      drawn.push(...turns);
      console.log(
        `Round ${round + 1}:`,
        summary(alone).p99Ms,
        'alone,',
        summary(beside).p99Ms,
        'beside cards',
        turns.at(-1),
      );
    }
    const kept = await costOfKept(site, `og/p-${(rounds - 1) * CARDS_PER_ROUND}.png`);
    await writeResults('cards', {
      rounds,
      seconds,
      cardsPerRound: CARDS_PER_ROUND,
      home: { alone: summary(alone), besideCards: summary(beside) },
      p99Ratio: spreadOf(beside.map(({ p99Ms }) => p99Ms)).median / spreadOf(alone.map(({ p99Ms }) => p99Ms)).median,
      cards: {
        perSecond: spreadOf(drawn.map(({ perSecond }) => perSecond)),
        cpuMsEach: spreadOf(drawn.map(({ cpuMsEach }) => cpuMsEach)),
        substitutes: drawn.reduce((sum, { substitutes }) => sum + substitutes, 0),
        keptCpuMsEach: kept,
      },
      memoryMb: {
        painter: Math.max(...drawn.map(({ painterMb }) => painterMb)),
        site: Math.max(...drawn.map(({ siteMb }) => siteMb)),
      },
    });
  } finally {
    await site.stop();
    await server.stop();
  }
}

/** Every product has one of the catalogue's pictures, as those of a site do. */
async function addPictures(database: { query(sql: string, values?: unknown[]): Promise<unknown> }): Promise<void> {
  const names = (await readdir(pictures, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== 'avatars')
    .map(({ name }) => `/pictures/${name}/tile.svg`);
  await database.query(
    "UPDATE products SET image = ($1::text[])[1 + abs(hashtext(id)) % $2::integer], description = 'Shows the waves of a day, and lets everybody say which of them was worth the climb. It needs no account.'",
    [names, names.length],
  );
}

interface CardsDrawn {
  perSecond: number;
  /** Of the process that draws. */
  cpuMsEach: number;
  substitutes: number;
  painterMb: number;
  siteMb: number;
}

/** Asks for the cards that are left, each once, for as long as `goesOn` says. */
async function drawCards(
  { address, pid }: { address: string; pid: number },
  left: string[],
  goesOn: () => boolean,
): Promise<CardsDrawn> {
  const painter = await painterOf(pid);
  const [startedAt, cpuBefore] = [performance.now(), await cpuMsOf(painter)];
  let [asked, substitutes] = [0, 0];
  const one = async () => {
    while (goesOn()) {
      const id = left.pop();
      if (id === undefined) return;
      asked += 1;
      if (!(await fetchCard(address, id))) substitutes += 1;
    }
  };
  await Promise.all(Array.from({ length: CARD_CONNECTIONS }, one));
  return {
    perSecond: (asked / (performance.now() - startedAt)) * 1_000,
    cpuMsEach: ((await cpuMsOf(painter)) - cpuBefore) / asked,
    substitutes,
    painterMb: await memoryMbOf(painter),
    siteMb: await memoryMbOf(pid),
  };
}

/** @returns whether it is the card itself, and not another in its place. */
async function fetchCard(address: string, path: string): Promise<boolean> {
  const response = await fetch(`${address}/${path}`);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}`);
  return response.headers.get('etag') !== null;
}

async function costOfKept({ address, pid }: { address: string; pid: number }, path: string): Promise<number> {
  const painter = await painterOf(pid);
  const before = await cpuMsOf(painter);
  for (let asked = 0; asked < 200; asked += 1) await fetchCard(address, path);
  return ((await cpuMsOf(painter)) - before) / 200;
}

/** The process that draws: the child of the site's whose program it is. */
async function painterOf(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('painter'));
  if (found === undefined) throw new Error('No process draws cards');
  return Number(found);
}

function summary(results: readonly LoadResult[]) {
  return {
    perSecond: spreadOf(results.map(({ perSecond }) => perSecond)),
    p50Ms: spreadOf(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: spreadOf(results.map(({ p99Ms }) => p99Ms)),
  };
}
