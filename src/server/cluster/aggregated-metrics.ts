import type { Worker } from 'node:cluster';
import { aggregateCounters, type MetricValues, type SiteMetrics, textOfProcesses } from '../metrics/site-metrics.ts';
import type { FromPrimary } from './heartbeat.ts';

/** If a worker takes longer to respond, for example because it hangs, its last known metrics are used. */
const RESPONSE_TIMEOUT_MS = 2_000;

/** The part of a worker process that this file uses. */
type MeasuredWorker = Pick<Worker, 'id' | 'isConnected' | 'send'>;

export interface AggregatedMetrics {
  contentType: string;
  /** Returns the aggregated metrics of all processes. Counters include those of workers that have exited. */
  text(): Promise<string>;
  /** Accepts the response from a worker. */
  receive(worker: MeasuredWorker, request: number, values: MetricValues): void;
}

/** Aggregates the metrics of the workers and of this process. */
export function createAggregatedMetrics(
  own: Pick<SiteMetrics, 'contentType' | 'values'>,
  workers: () => readonly MeasuredWorker[],
): AggregatedMetrics {
  const pending = new Map<string, (values: MetricValues | undefined) => void>();
  const latest = new Map<MeasuredWorker, MetricValues>();
  const exited = new WeakSet<MeasuredWorker>();
  let ofExited: Promise<MetricValues> = Promise.resolve([]);
  let lastRequest = 0;

  function ask(worker: MeasuredWorker, request: number): Promise<MetricValues | undefined> {
    const key = `${worker.id} ${request}`;
    return new Promise((resolve) => {
      const settle = (values: MetricValues | undefined) => {
        clearTimeout(timer);
        pending.delete(key);
        resolve(values);
      };
      const timer = setTimeout(settle, RESPONSE_TIMEOUT_MS, undefined);
      pending.set(key, settle);
      const message: FromPrimary = { kind: 'values requested', request };
      if (worker.isConnected()) worker.send(message);
      else settle(undefined);
    });
  }

  function retainCountersOfExited(running: readonly MeasuredWorker[]): void {
    for (const [worker, values] of latest) {
      if (running.includes(worker)) continue;
      latest.delete(worker);
      exited.add(worker);
      ofExited = ofExited.then((before) => aggregateCounters([before, values]));
    }
  }

  return {
    contentType: own.contentType,
    async text() {
      lastRequest += 1;
      const request = lastRequest;
      const running = workers();
      retainCountersOfExited(running);
      const found = await Promise.all([
        own.values(),
        ofExited,
        ...running.map(async (worker) => (await ask(worker, request)) ?? latest.get(worker)),
      ]);
      return textOfProcesses(found.filter((values) => values !== undefined));
    },
    receive(worker, request, values) {
      if (!exited.has(worker)) latest.set(worker, values);
      pending.get(`${worker.id} ${request}`)?.(values);
    },
  };
}
