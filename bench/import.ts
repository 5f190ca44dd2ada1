import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { saveProducts } from '../src/core/products/save-products.ts';
import { type BenchDatabase, startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import { runCommand, startSite } from './harness/server-process.ts';
import { spreadOf } from './harness/statistics.ts';
import { makeProducts } from './seed/products.ts';

const SEED = 7;
const BATCH = 1_000;

/**
 * Measures rows per second and memory of `groundswell import`, for a new file and for the same file again, and rows
 * per second of bare upserts in batches of 1,000 rows, without validation. Also measures the delay until a running site
 * lists the new products. Flags: `--rows=N` (200,000), `--rounds=N` (3).
 */
export async function imports(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...flags],
    options: { rows: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '3' } },
  });
  const [rows, rounds] = [Number(values.rows), Number(values.rounds)];
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-bench-'));
  const file = join(folder, 'products.jsonl');
  await pipeline(Readable.from(linesOf(rows)), createWriteStream(file));
  const server = await startBenchServer();
  const [bare, first, again, listed]: [number[], number[], number[], number[]] = [[], [], [], []];
  let peakMb = 0;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      bare.push(rows / (await upsertAll(await server.createDatabase(0), rows)));
      const { url } = await server.createDatabase(0);
      const site = await startSite(url, { DATA_DIR: join(folder, 'data') });
      try {
        const run = await runCommand(['import', file], { DATABASE_URL: url });
        first.push(rows / run.seconds);
        listed.push(await msUntilListed(site.address));
        const repeated = await runCommand(['import', file], { DATABASE_URL: url });
        again.push(rows / repeated.seconds);
        peakMb = Math.max(peakMb, run.peakMb, repeated.peakMb);
      } finally {
        await site.stop();
      }
      console.log(
        `Round ${round}: ${Math.round(first.at(-1) ?? 0)} rows/s, bare upserts ${Math.round(bare.at(-1) ?? 0)}`,
      );
    }
    await writeResults('import', {
      rounds,
      rows,
      rowsPerSecond: { bareUpserts: spreadOf(bare), import: spreadOf(first), importedAgain: spreadOf(again) },
      msUntilListedAfterTheCommand: spreadOf(listed),
      peakMb,
    });
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function* linesOf(rows: number): Generator<string> {
  for (const product of makeProducts(rows, SEED)) yield `${JSON.stringify(product)}\n`;
}

/** Upserts all rows without validation. @returns the duration in seconds. */
async function upsertAll(database: BenchDatabase, rows: number): Promise<number> {
  const begin = performance.now();
  await database.transaction(async (sql) => {
    let batch = [];
    for (const product of makeProducts(rows, SEED)) {
      if (batch.push(product) < BATCH) continue;
      await saveProducts(sql, batch);
      batch = [];
    }
    if (batch.length > 0) await saveProducts(sql, batch);
  });
  return (performance.now() - begin) / 1_000;
}

async function msUntilListed(address: string): Promise<number> {
  const begin = performance.now();
  for (;;) {
    const response = await fetch(`${address}/api/products?limit=1`);
    const { items } = (await response.json()) as { items: unknown[] };
    if (items.length > 0) return performance.now() - begin;
  }
}
