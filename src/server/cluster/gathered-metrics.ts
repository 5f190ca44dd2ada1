import type { Worker } from 'node:cluster';
import { type MetricValues, type SiteMetrics, textOfProcesses } from '../metrics/site-metrics.ts';
import type { FromPrimary } from './messages.ts';

/** A process that does not answer by then is left out: the metrics are needed most when something hangs. */
const PATIENCE_MS = 2_000;

export interface GatheredMetrics {
  contentType: string;
  /** The metrics of all processes in one. */
  text(): Promise<string>;
  /** Takes what a process answered. */
  take(worker: Worker, request: number, values: MetricValues): void;
}

/** Gathers the metrics of the processes that serve, with this one's own. */
export function createGatheredMetrics(own: SiteMetrics, workers: () => readonly Worker[]): GatheredMetrics {
  const waiting = new Map<string, (values: MetricValues | undefined) => void>();
  let asked = 0;

  function ask(worker: Worker, request: number): Promise<MetricValues | undefined> {
    const key = `${worker.id} ${request}`;
    return new Promise((resolve) => {
      const give = (values: MetricValues | undefined) => {
        clearTimeout(timer);
        waiting.delete(key);
        resolve(values);
      };
      const timer = setTimeout(give, PATIENCE_MS, undefined);
      waiting.set(key, give);
      const message: FromPrimary = { kind: 'values wanted', request };
      if (worker.isConnected()) worker.send(message);
      else give(undefined);
    });
  }

  return {
    contentType: own.contentType,
    async text() {
      asked += 1;
      const request = asked;
      const answers = await Promise.all([own.values(), ...workers().map((worker) => ask(worker, request))]);
      return textOfProcesses(answers.filter((values) => values !== undefined));
    },
    take: (worker, request, values) => waiting.get(`${worker.id} ${request}`)?.(values),
  };
}
