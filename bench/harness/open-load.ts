import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionPool, requestText } from './http-connection.ts';
import type { Flow, FlowResult, OpenLoadOptions } from './run-load.ts';
import { quantile } from './statistics.ts';

/** Requests of the first moments warm up the connections and are not measured. */
const WARM_UP_MS = 1_000;

const [options] = (await once(process, 'message')) as [OpenLoadOptions];
const run = randomBytes(8).toString('hex');
const pool = new ConnectionPool(options.address);
const begin = performance.now() + 100;
const results = await Promise.all(
  Object.entries(options.flows).map(async ([name, flow]) => [name, await runFlow(name, flow)] as const),
);
process.send?.(Object.fromEntries(results));
process.disconnect();
pool.close();

async function runFlow(name: string, { targets, perSecond }: Flow): Promise<FlowResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const inFlight: Promise<void>[] = [];
  const total = Math.round((perSecond * (WARM_UP_MS + options.seconds * 1_000)) / 1_000);

  async function request(number: number, dueAt: number): Promise<void> {
    const target = targets[number % targets.length];
    if (target === undefined) throw new Error(`The flow ${name} has no targets`);
    const { method, path, body, acceptEncoding } = target;
    const text = requestText(method, path, `session-${run}-${name}-${number.toString(16)}`, body, acceptEncoding);
    const status = await pool.send(text).then(
      (response) => response.status,
      (error: Error) => error.message,
    );
    if (dueAt < begin + WARM_UP_MS) return;
    latencies.push(performance.now() - dueAt);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }

  for (let number = 0; number < total; number += 1) {
    const dueAt = begin + (number / perSecond) * 1_000;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    inFlight.push(request(number, dueAt));
  }
  await Promise.all(inFlight);

  const sorted = Float64Array.from(latencies).sort();
  const succeeded = Object.entries(statuses).reduce(
    (sum, [status, count]) => sum + (status.startsWith('2') ? count : 0),
    0,
  );
  return {
    due: sorted.length,
    succeeded,
    statuses,
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? Number.NaN,
  };
}
