import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { startSite } from './harness/server-process.ts';
import { spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './main.ts';
import { fillDatabase } from './seed/fill.ts';

const SIZES = { products: 3_000, upvotes: 15_000, comments: 6_000, seed: 1 };
const PAGES_A_ROUND = 200;
/** Pages that are rendered before anything is measured, so that the code is compiled as in a site that has run for a while. */
const WARM_UP = 400;

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
    await ask(site.address, ids.splice(0, WARM_UP));
    const cpuMs: number[] = [];
    const latencyMs: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const [cpuBefore, begin] = [await cpuMsOf(site.pid), performance.now()];
      await ask(site.address, ids.splice(0, PAGES_A_ROUND));
      cpuMs.push(((await cpuMsOf(site.pid)) - cpuBefore) / PAGES_A_ROUND);
      latencyMs.push((performance.now() - begin) / PAGES_A_ROUND);
      console.log(`Round ${round}: ${cpuMs.at(-1)} ms of processor time a page`);
    }
    await writeResults('cold', {
      rounds,
      ...SIZES,
      pagesARound: PAGES_A_ROUND,
      cpuMsAPage: spreadOf(cpuMs),
      latencyMsAPage: spreadOf(latencyMs),
    });
  } finally {
    await site.stop();
    await server.stop();
  }
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
