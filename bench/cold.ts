import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type ServerProcess, startSite } from './harness/server-process.ts';
import { spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './main.ts';
import { fillDatabase } from './seed/fill.ts';

const SIZES = { products: 6_000, upvotes: 30_000, comments: 12_000, seed: 1 };
const PAGES_A_ROUND = 200;
/**
 * Pages that are rendered before anything is measured, so that the code is compiled as in a site that has run for a while: until
 * some 1,500 pages have been made, the engine goes on making them cheaper.
 */
const WARM_UP = 2_000;

/** Processor time of the site for product pages that nobody has asked for yet: reading, rendering, compressing, sending. */
export async function cold({ rounds }: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const { url, query } = await server.createDatabase(0);
  await fillDatabase(url, SIZES, { force: true });
  const rows = await query<{ id: string }>('SELECT id FROM products ORDER BY md5(id) LIMIT $1', [
    WARM_UP + rounds * PAGES_A_ROUND,
  ]);
  const site = await startSite(url);
  const ids = rows.map(({ id }) => id);
  try {
    const warmUp = await measure(site, ids.splice(0, WARM_UP));
    const cpuMs: number[] = [];
    const latencyMs: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const measured = await measure(site, ids.splice(0, PAGES_A_ROUND));
      cpuMs.push(measured.cpuMs);
      latencyMs.push(measured.latencyMs);
      console.log(`Round ${round}: ${measured.cpuMs} ms of processor time a page`);
    }
    await writeResults('cold', {
      rounds,
      ...SIZES,
      warmUpPages: WARM_UP,
      cpuMsAPageWhileWarming: warmUp.cpuMs,
      pagesARound: PAGES_A_ROUND,
      cpuMsAPage: spreadOf(cpuMs),
      latencyMsAPage: spreadOf(latencyMs),
    });
  } finally {
    await site.stop();
    await server.stop();
  }
}

/** For each page of these. */
async function measure({ address, pid }: ServerProcess, ids: readonly string[]) {
  const [cpuBefore, begin] = [await cpuMsOf(pid), performance.now()];
  await ask(address, ids);
  return {
    cpuMs: ((await cpuMsOf(pid)) - cpuBefore) / ids.length,
    latencyMs: (performance.now() - begin) / ids.length,
  };
}

/** One after the other: nothing is shared between two pages. */
async function ask(address: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const answer = await fetch(`${address}/product/${encodeURIComponent(id)}`, {
      headers: { 'accept-encoding': 'br' },
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`The page of ${id} has status ${answer.status}`);
  }
}
