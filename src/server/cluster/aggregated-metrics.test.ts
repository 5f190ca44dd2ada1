import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSiteMetrics } from '../metrics/site-metrics.ts';
import { createAggregatedMetrics } from './aggregated-metrics.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Starts a worker that has rejected one write. */
function startWorker(id: number) {
  const metrics = createSiteMetrics();
  const worker = {
    id,
    responds: true,
    isConnected: () => true,
    reject: () => metrics.observeWrites('likes').rejected(),
    respond: async (request: number) => aggregated.receive(worker, request, await metrics.values()),
    send({ request }: { request: number }) {
      if (worker.responds) void worker.respond(request);
      else void vi.advanceTimersByTimeAsync(2_000);
      return true;
    },
  };
  worker.reject();
  return worker;
}

let running = [startWorker(1), startWorker(2)];
const aggregated = createAggregatedMetrics(createSiteMetrics(), () => running);

async function rejectedWrites(): Promise<number> {
  return Number(/^groundswell_writes_rejected_total\{kind="likes"\} (\d+)$/m.exec(await aggregated.text())?.[1]);
}

test('a counter does not decrease when a worker responds late or exits', async () => {
  expect(await rejectedWrites()).toBe(2);
  const [, second] = running;
  if (!second) return expect.unreachable();
  second.responds = false;
  expect(await rejectedWrites()).toBe(2);
  second.reject();
  await second.respond(2);
  expect(await rejectedWrites()).toBe(3);
  running = running.slice(0, 1);
  for (let scrape = 0; scrape < 2; scrape += 1) expect(await rejectedWrites()).toBe(3);
  await second.respond(3);
  expect(await rejectedWrites()).toBe(3);
});
