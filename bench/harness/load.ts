import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection, requestText } from './http-connection.ts';
import type { LoadOptions, LoadResult } from './run-load.ts';
import { latenciesOf } from './statistics.ts';

/** Duration of the warm-up. Its latencies are not measured. */
const WARM_UP_S = 0.5;

const [given] = (await once(process, 'message')) as [LoadOptions];
process.send?.(await load(given));
process.disconnect();

async function load(options: LoadOptions): Promise<LoadResult> {
  const {
    address,
    connections,
    seconds,
    targets,
    localAddress,
    isSpread,
    maxPerSecond = Number.POSITIVE_INFINITY,
  } = options;
  const pauseMs = (connections / maxPerSecond) * 1_000;
  const run = randomBytes(8).toString('hex');
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let sentCount = 0;
  let succeeded = 0;
  const begin = performance.now() + WARM_UP_S * 1_000;
  const end = begin + seconds * 1_000;

  const nextRequest = (): string => {
    const target = targets[sentCount % targets.length];
    if (target === undefined) throw new Error('There are no targets');
    sentCount += 1;
    const { method, path, body, acceptEncoding } = target;
    return requestText(method, path, `session-${run}-${sentCount.toString(16)}`, body, acceptEncoding);
  };

  const keepBusy = async (index: number): Promise<void> => {
    const source = isSpread ? `127.1.${index >> 8}.${index & 255}` : localAddress;
    const connection = new HttpConnection(address, source);
    for (let sentAt = performance.now(); sentAt < end; ) {
      const { status } = await connection.send(nextRequest());
      const received = performance.now();
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status < 300) succeeded += 1;
      // A response counts if it arrives during the measured time, no matter when its request was sent.
      if (received >= begin && received < end) latencies.push(received - sentAt);
      if (pauseMs > 0) await sleep(Math.max(0, sentAt + pauseMs - received));
      sentAt = pauseMs > 0 ? performance.now() : received;
    }
    connection.close();
  };

  await Promise.all(Array.from({ length: connections }, (_, index) => keepBusy(index)));
  const { p50Ms, p99Ms } = latenciesOf(latencies);
  return { perSecond: latencies.length / seconds, p50Ms, p99Ms, succeeded, sent: sentCount, statuses };
}
