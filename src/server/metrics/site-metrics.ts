import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { CONSOLE_PATHS } from '../../contract/console/paths.ts';
import type { WriteKind } from '../../core/core.ts';
import type { GroupCommitObserver } from '../../core/group-commit.ts';
import type { FastPathObserver } from '../cache/send-cached.ts';

/**
 * The metrics of a process for Prometheus. No label contains a session id, an IP address or a path that a visitor
 * chose.
 */
export interface SiteMetrics {
  /** Counts and times requests to routes that are registered after this call, and requests without a route. */
  watchRequests(app: FastifyInstance): void;
  /** Counts and times responses of the fast path, which bypass the routes. */
  observeFastPath: FastPathObserver;
  /** The registries to which further metrics of this process are added. */
  registers: Registry[];
  observeWrites(kind: WriteKind): GroupCommitObserver;
  /** The media type of `text`. */
  contentType: string;
  text(): Promise<string>;
  /** Returns the metrics as values, to be aggregated with those of other processes. */
  values(): Promise<MetricValues>;
}

/**
 * The metrics of one process, as they are sent to another. The TypeScript type that prom-client declares for `type` is
 * incorrect.
 */
export type MetricValues = readonly { type: unknown; aggregator?: string }[];

/** Aggregates the metrics of several processes by summing them, unless a metric declares another aggregator. */
export async function textOfProcesses(processes: readonly MetricValues[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

/** Sums the counters and histograms of several processes; other metrics are dropped. */
export function aggregateCounters(processes: readonly MetricValues[]): Promise<MetricValues> {
  const isCounter = ({ type, aggregator }: MetricValues[number]) =>
    (type === 'counter' || type === 'histogram') && aggregator === 'sum';
  return AggregatorRegistry.aggregate(processes.map((values) => values.filter(isCounter))).getMetricsAsJSON();
}

/** Creates metrics with their own registry, including metrics of the process and its event loop. */
export function createSiteMetrics(): SiteMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const { watchRequests, observeFastPath } = observeRequestsIn(registers);
  return {
    watchRequests,
    observeFastPath,
    registers,
    observeWrites: observeWritesIn(registers),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the response stays open for as long as the client is connected. */
    isStream?: boolean;
  }
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

function observeRequestsIn(registers: Registry[]): {
  watchRequests(app: FastifyInstance): void;
  observeFastPath: FastPathObserver;
} {
  const requests = new Counter({
    name: 'groundswell_http_requests_total',
    help: 'Completed requests',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_http_request_duration_seconds',
    help: 'Time from receiving the request headers to the end of the response, except for streams and the console',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  /** Counts a request. Its label is the pattern of the route, never the path, which a visitor chose. */
  function count(method: string, route: string | undefined, status: number): { method: string; route: string } {
    const labels = { method, route: route ?? 'none' };
    requests.inc({ ...labels, status });
    return labels;
  }

  return {
    watchRequests(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const { isForConsole, routeOptions } = request;
        const labels = count(request.method, isForConsole ? CONSOLE_PATHS.home : routeOptions.url, reply.statusCode);
        // Streams last as long as their pages are open, and the console has long uploads and downloads. The durations
        // of both would distort the metric.
        if (!isForConsole && !routeOptions.config.isStream) durations.observe(labels, reply.elapsedTime / 1_000);
        done();
      });
    },
    observeFastPath: ({ route, seconds }) => durations.observe(count('GET', route, 200), seconds),
  };
}

/** Records the outcomes, batch sizes and durations of writes, by kind. */
function observeWritesIn(registers: Registry[]): (kind: WriteKind) => GroupCommitObserver {
  const outcomes = new Counter({
    name: 'groundswell_write_transactions_total',
    help: 'Write transactions: committed, failed, or retried after a deadlock or serialization failure',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const rejected = new Counter({
    name: 'groundswell_writes_rejected_total',
    help: 'Writes rejected with 503: the queue was full, they waited too long, or the database was unavailable',
    labelNames: ['kind'],
    registers,
  });
  const sizes = new Histogram({
    name: 'groundswell_write_batch_size',
    help: 'Writes per transaction',
    labelNames: ['kind'],
    buckets: BATCH_SIZES,
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_write_transaction_duration_seconds',
    help: 'Duration of write transactions, including the wait for a connection',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  return (kind) => {
    // Without an initial value of 0, Prometheus would not notice the first rejection.
    rejected.inc({ kind }, 0);
    return {
      committed(items, seconds) {
        outcomes.inc({ kind, outcome: 'committed' });
        sizes.observe({ kind }, items);
        durations.observe({ kind }, seconds);
      },
      retried: () => outcomes.inc({ kind, outcome: 'retried' }),
      failed: () => outcomes.inc({ kind, outcome: 'failed' }),
      rejected: () => rejected.inc({ kind }),
    };
  };
}
