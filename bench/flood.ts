import { connect, type Socket } from 'node:net';
import { startBenchServer } from './harness/bench-database.ts';
import { writeResults } from './harness/results.ts';
import { type LoadResult, runLoad, type Target } from './harness/run-load.ts';
import { startSite } from './harness/server-process.ts';
import { ratiosTo, spreadOf, spreadsOf } from './harness/statistics.ts';
import type { BenchOptions } from './options.ts';

const PRODUCTS = 1_000;
const HALF_OPEN = 200;
/** 200 times the rate that the limit allows one network. The attack is slower, because the site delays refusals. */
const FLOOD_PER_SECOND = 2_000;
const FLOOD_CONNECTIONS = 100;
const READER_CONNECTIONS = 4;
/** Addresses in separate networks, because limits apply per /24. */
const READER = '127.0.1.1';
const ATTACKER = '127.0.9.9';

const reads: Target[] = Array.from({ length: PRODUCTS }, (_, index) => ({
  method: 'GET',
  path: `/api/products/p-${index}`,
}));
const flooded: Target[] = [{ method: 'PUT', path: '/api/products/p-0/upvote' }];

/**
 * Measures reads from one network, alternately without other load and while another network holds 200 incomplete
 * requests and floods the site with upvotes. The attacker shares the machine, which makes the results a little worse.
 */
export async function flood({ rounds, seconds }: BenchOptions): Promise<void> {
  const server = await startBenchServer();
  const { url } = await server.createDatabase(PRODUCTS);
  const site = await startSite(url, { RATE_LIMITS: 'on' });
  const read = () =>
    runLoad({
      address: site.address,
      connections: READER_CONNECTIONS,
      seconds,
      targets: reads,
      localAddress: READER,
    });
  const attack = () =>
    runLoad({
      address: site.address,
      connections: FLOOD_CONNECTIONS,
      // The attack lasts longer than the reads, so all reads run during it, even if their load process starts later.
      seconds: seconds + 2,
      targets: flooded,
      localAddress: ATTACKER,
      maxPerSecond: FLOOD_PER_SECOND,
    });
  const alone: LoadResult[] = [];
  const underAttack: LoadResult[] = [];
  const attacks: LoadResult[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      alone.push(await read());
      const sockets = await openHalf(site.address);
      const [readResult, attackResult] = await Promise.all([read(), attack()]);
      underAttack.push(readResult);
      attacks.push(attackResult);
      for (const socket of sockets) socket.destroy();
      console.log(`Round ${round}: ${describeReads(alone)} alone, ${describeReads(underAttack)} under attack`);
    }
  } finally {
    await site.stop();
    await server.stop();
  }
  const summary = (results: readonly LoadResult[]) => spreadsOf(results, ['perSecond', 'p50Ms', 'p99Ms']);
  await writeResults('flood', {
    rounds,
    seconds,
    halfOpenConnections: HALF_OPEN,
    readsLeft: ratiosTo(alone, underAttack, 'perSecond'),
    alone: summary(alone),
    underAttack: summary(underAttack),
    flood: { perSecond: spreadOf(attacks.map(({ perSecond }) => perSecond)), statuses: attacks.at(-1)?.statuses },
  });
}

/** Opens connections that send only part of a request's header. */
function openHalf(address: string): Promise<Socket[]> {
  const { hostname, port } = new URL(address);
  return Promise.all(
    Array.from({ length: HALF_OPEN }, async () => {
      const socket = connect({ port: Number(port), host: hostname, localAddress: ATTACKER });
      // The site is expected to close incomplete requests after a timeout.
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write('GET / HTTP/1.1\r\nHost: bench\r\nX-Slow: ');
      return socket;
    }),
  );
}

function describeReads(results: readonly LoadResult[]): string {
  const last = results.at(-1);
  return last === undefined ? '' : `${Math.round(last.perSecond)}/s (p99 ${Math.round(last.p99Ms)} ms)`;
}
