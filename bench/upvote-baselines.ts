import type { BenchDatabase, BenchServer } from './harness/bench-database.ts';
import { cpuMsOf } from './harness/process-use.ts';
import { requireSuccess, runLoad, type Target } from './harness/run-load.ts';
import { type ServerProcess, startBaseline, startSite } from './harness/server-process.ts';
import { ratiosTo, spreadOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

interface Measured {
  perSecond: number;
  /** CPU time of the server process per request, without that of PostgreSQL. */
  cpuUs: number;
}

type Side = 'site' | 'noOp' | 'lean';

/**
 * Compares upvotes of the site with two baselines, in alternating rounds: a PUT route of the site's server that writes
 * nothing, and a bare server with one prepared statement per upvote.
 */
export async function compareWithBaselines(server: BenchServer, productCount: number, options: BenchOptions) {
  const databases = [await server.createDatabase(productCount), await server.createDatabase(productCount)] as const;
  const [ofSite, ofLean] = databases;
  const sides: Record<Side, ServerProcess> = {
    site: await startSite(ofSite.url),
    noOp: await startBaseline('no-op-put', {}),
    lean: await startBaseline('lean-upvotes', { DATABASE_URL: ofLean.url }),
  };
  try {
    const spread = await measureAlternately(sides, productCount, options);
    const hot = await measureAlternately(sides, 1, options);
    for (const database of databases) await assertCounted(database);
    return { 'upvotes, 1,000 products': spread, 'upvotes, one product': hot };
  } finally {
    for (const side of Object.values(sides)) await side.stop();
  }
}

async function measureAlternately(
  sides: Readonly<Record<Side, ServerProcess>>,
  products: number,
  options: BenchOptions,
) {
  const measured: Record<Side, Measured[]> = { site: [], noOp: [], lean: [] };
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const side of ['site', 'noOp', 'lean'] as const) {
      measured[side].push(await measure(sides[side], side === 'noOp' ? '/no-op' : '', products, options));
    }
    const last = Object.entries(measured).map(([side, results]) => {
      const { perSecond = 0, cpuUs = 0 } = results.at(-1) ?? {};
      return `${side} ${Math.round(perSecond)}/s, ${cpuUs.toFixed(0)} µs`;
    });
    console.log(`upvotes, ${products} products, round ${round}: ${last.join(' | ')}`);
  }
  const { site, noOp, lean } = measured;
  return {
    throughputOfNoOp: ratiosTo(noOp, site, 'perSecond'),
    throughputOfLean: ratiosTo(lean, site, 'perSecond'),
    cpuOfNoOp: ratiosTo(noOp, site, 'cpuUs'),
    cpuOfLean: ratiosTo(lean, site, 'cpuUs'),
    perSecond: Object.fromEntries(
      Object.entries(measured).map(([side, results]) => [side, spreadOf(results.map(({ perSecond }) => perSecond))]),
    ),
  };
}

async function measure(
  { address, pid }: ServerProcess,
  prefix: string,
  products: number,
  { connections, seconds }: BenchOptions,
): Promise<Measured> {
  const targets = Array.from(
    { length: products },
    (_, index): Target => ({ method: 'PUT', path: `${prefix}/api/products/p-${index}/upvote` }),
  );
  const cpuBefore = await cpuMsOf(pid);
  const { perSecond, sent } = requireSuccess(await runLoad({ address, connections, seconds, targets }));
  return { perSecond, cpuUs: (((await cpuMsOf(pid)) - cpuBefore) * 1_000) / sent };
}

async function assertCounted(database: BenchDatabase): Promise<void> {
  const [row] = await database.query<{ counted: string; stored: string }>(
    'SELECT (SELECT sum(upvotes) FROM product_counts) AS counted, (SELECT count(*) FROM upvotes) AS stored',
  );
  if (row?.counted !== row?.stored) throw new Error(`${row?.counted} upvotes are counted, ${row?.stored} are stored`);
}
