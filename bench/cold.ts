import { startBenchServer } from './harness/bench-database.ts';
import { cpuMsOf, parentOf, processTreeCpuMs } from './harness/process-use.ts';
import { writeResults } from './harness/results.ts';
import { type ServerProcess, startSite } from './harness/server-process.ts';
import { spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';
import { fillDatabase } from './seed/fill.ts';

const SIZES = { products: 6_000, upvotes: 30_000, comments: 12_000, seed: 1 };
const PAGES_PER_ROUND = 200;
/**
 * Number of pages rendered before the rounds, because V8 optimizes the code until about 1,500 pages have been rendered.
 * Their CPU time is recorded separately.
 */
const WARM_UP = 2_000;

/**
 * Measures the latency of an uncached product page, and the CPU time that the site and PostgreSQL spend on reading,
 * rendering, compressing and sending it.
 */
export async function cold({ rounds }: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const { url, query } = await server.createDatabase(0);
  await fillDatabase(url, SIZES);
  const rows = await query<{ id: string }>('SELECT id FROM products ORDER BY md5(id) LIMIT $1', [
    WARM_UP + rounds * PAGES_PER_ROUND,
  ]);
  const [backend] = await query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const postmaster = await parentOf(backend?.pid ?? 0);
  const site = await startSite(url);
  const ids = rows.map(({ id }) => id);
  try {
    const warmUp = await measure(site, postmaster, ids.splice(0, WARM_UP));
    const results: Awaited<ReturnType<typeof measure>>[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const measured = await measure(site, postmaster, ids.splice(0, PAGES_PER_ROUND));
      results.push(measured);
      console.log(`Round ${round}: ${measured.cpuMs} + ${measured.databaseCpuMs} ms of CPU time per page`);
    }
    const { cpuMs, databaseCpuMs, latencyMs } = spreadsOf(results, ['cpuMs', 'databaseCpuMs', 'latencyMs']);
    await writeResults('cold', {
      rounds,
      ...SIZES,
      warmUpPages: WARM_UP,
      cpuMsPerPageWhileWarming: warmUp.cpuMs,
      pagesPerRound: PAGES_PER_ROUND,
      cpuMsPerPage: cpuMs,
      databaseCpuMsPerPage: databaseCpuMs,
      latencyMsPerPage: latencyMs,
    });
  } finally {
    await site.stop();
    await server.stop();
  }
}

/** Measures the latency and the CPU time per page. */
async function measure({ address, pid }: ServerProcess, postmaster: number, ids: readonly string[]) {
  const [cpuBefore, databaseBefore] = [await cpuMsOf(pid), await processTreeCpuMs(postmaster)];
  const begin = performance.now();
  await requestAll(address, ids);
  const latencyMs = (performance.now() - begin) / ids.length;
  return {
    cpuMs: ((await cpuMsOf(pid)) - cpuBefore) / ids.length,
    databaseCpuMs: ((await processTreeCpuMs(postmaster)) - databaseBefore) / ids.length,
    latencyMs,
  };
}

/** Requests the pages one after the other, so they share no work. */
async function requestAll(address: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const response = await fetch(`${address}/product/${encodeURIComponent(id)}`, {
      headers: { 'accept-encoding': 'br' },
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`The page of ${id} has status ${response.status}`);
  }
}
