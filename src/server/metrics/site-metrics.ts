import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Core, WriteKind } from '../../core/core.ts';
import type { Database } from '../../core/database/database.ts';
import type { ReadStats } from '../../core/database/replicas.ts';
import type { GroupCommitObserver } from '../../core/group-commit.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Live } from '../live/live.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its answers go on for as long as the client stays. */
    isStream?: boolean;
  }
}

/** What the site tells a Prometheus server. No label ever holds a session id, an address or a path that a visitor chose. */
export interface SiteMetrics {
  /** Counts and times every request to routes that are registered from now on. */
  watchRequests(app: FastifyInstance): void;
  /** Asks these whenever somebody looks. */
  watch(watched: Watched): void;
  /** Tells of the counts that are not those of their rows. */
  watchDrift(drift: { drift(): number }): void;
  /** Tells of reads, where there are replicas. */
  watchReads(reads: { stats(): ReadStats }): void;
  /** Tells of the processes that serve, where there are several. */
  watchProcesses(processes: { up(): number; replaced(): number }): void;
  /** Tells of the backups that the site makes by itself. */
  watchBackups(backups: { lastSuccess(): Date | undefined; failures(): number }): void;
  observeWrites(kind: WriteKind): GroupCommitObserver;
  /** The media type of `text`. */
  contentType: string;
  text(): Promise<string>;
  /** The same as values, to be put together with those of other processes. */
  values(): Promise<MetricValues>;
}

/** What one process has to tell, as it is sent to another. */
export type MetricValues = readonly object[];

/** Puts the values of several processes together: sums, but for what each metric says of itself. */
export async function textOfProcesses(processes: readonly MetricValues[]): Promise<string> {
  return AggregatorRegistry.aggregate([...processes]).metrics();
}

export interface Watched {
  core: Pick<Core, 'queuedWrites'>;
  database: Pick<Database, 'connections'>;
  live: Pick<Live, 'stats'>;
  cache: Pick<AnswerCache, 'sizeBytes' | 'stats'>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Metrics in a registry of their own, with those of the process and its event loop. */
export function createSiteMetrics(): SiteMetrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  return {
    watchRequests: (app) => watchRequests(app, registers),
    watch: (watched) => watch(watched, registers),
    watchDrift: (drift) => watchDrift(drift, registers),
    watchReads: (reads) => watchReads(reads, registers),
    watchProcesses: (processes) => watchProcesses(processes, registers),
    watchBackups: (backups) => watchBackups(backups, registers),
    observeWrites: observeWritesIn(registers),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
  };
}

function watch({ core, cache, database, live }: Watched, registers: Registry[]): void {
  new Gauge({
    name: 'groundswell_write_queue_depth',
    help: 'Writes that wait for a transaction',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, depth] of Object.entries(core.queuedWrites())) this.set({ kind }, depth);
    },
  });
  new Gauge({
    name: 'groundswell_database_connections',
    help: 'Connections to the database: busy, idle, the most there may be, and callers that wait for one',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(database.connections())) this.set({ state }, count);
    },
  });
  new Counter({
    name: 'groundswell_answers_total',
    help: 'Answers that are kept once made: sent as kept, made for the request, or sent outdated while the next is made',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(cache.stats())) this.inc({ outcome }, count);
    },
  });
  new Gauge({
    name: 'groundswell_answers_kept_bytes',
    help: 'Memory that kept answers take',
    registers,
    collect() {
      this.set(cache.sizeBytes());
    },
  });
  new Gauge({
    name: 'groundswell_streams_open',
    help: 'Open streams of events',
    registers,
    collect() {
      this.set(live.stats().open);
    },
  });
  new Counter({
    name: 'groundswell_streams_dropped_total',
    help: 'Streams that were let go because their client did not read',
    registers,
    collect() {
      this.reset();
      this.inc(live.stats().dropped);
    },
  });
  new Counter({
    name: 'groundswell_stream_frames_total',
    help: 'Frames that were sent, once for each stream, heartbeats not among them',
    registers,
    collect() {
      this.reset();
      this.inc(live.stats().frames);
    },
  });
}

function watchDrift(drift: { drift(): number }, registers: Registry[]): void {
  new Gauge({
    name: 'groundswell_count_drift',
    help: 'Products whose counts were not those of their rows, in the last full round or the one under way',
    registers,
    collect() {
      this.set(drift.drift());
    },
  });
}

function watchReads({ stats }: { stats(): ReadStats }, registers: Registry[]): void {
  new Counter({
    name: 'groundswell_reads_total',
    help: 'Statements that only read, by where they were sent',
    labelNames: ['from'],
    registers,
    collect() {
      const { primary, replicas } = stats();
      this.reset();
      this.inc({ from: 'primary' }, primary);
      this.inc({ from: 'replicas' }, replicas);
    },
  });
  new Gauge({
    name: 'groundswell_replicas_usable',
    help: 'Replicas that are read from',
    registers,
    collect() {
      this.set(stats().usable);
    },
  });
}

function watchProcesses({ up, replaced }: Parameters<SiteMetrics['watchProcesses']>[0], registers: Registry[]): void {
  new Gauge({
    name: 'groundswell_processes_up',
    help: 'Processes of this machine that serve, where there are several',
    registers,
    collect() {
      this.set(up());
    },
  });
  new Counter({
    name: 'groundswell_processes_replaced_total',
    help: 'Processes that serve that crashed and were replaced',
    registers,
    collect() {
      this.reset();
      this.inc(replaced());
    },
  });
}

function watchBackups(
  { lastSuccess, failures }: Parameters<SiteMetrics['watchBackups']>[0],
  registers: Registry[],
): void {
  new Gauge({
    name: 'groundswell_backup_last_success_timestamp_seconds',
    help: 'When the last scheduled backup began that is whole, by whichever process; 0 when there is none',
    registers,
    collect() {
      this.set((lastSuccess()?.getTime() ?? 0) / 1_000);
    },
  });
  new Counter({
    name: 'groundswell_backup_failures_total',
    help: 'Scheduled backups of this process that failed',
    registers,
    collect() {
      this.reset();
      this.inc(failures());
    },
  });
}

function watchRequests(app: FastifyInstance, registers: Registry[]): void {
  const requests = new Counter({
    name: 'groundswell_http_requests_total',
    help: 'Requests that were answered',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    // The pattern of the route, never the path: that is the visitor's.
    const route = request.routeOptions.url ?? 'none';
    requests.inc({ method, route, status: reply.statusCode });
    // A stream takes as long as its page is open: that says nothing of the server.
    if (request.routeOptions.config.isStream) return;
    durations.observe({ method, route }, reply.elapsedTime / 1_000);
  });
}

function observeWritesIn(registers: Registry[]): (kind: WriteKind) => GroupCommitObserver {
  const outcomes = new Counter({
    name: 'groundswell_write_transactions_total',
    help: 'Transactions of writes: committed, retried because two met crosswise, failed',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const refused = new Counter({
    name: 'groundswell_writes_refused_total',
    help: 'Writes that found the queue full and were answered with 503',
    labelNames: ['kind'],
    registers,
  });
  const sizes = new Histogram({
    name: 'groundswell_write_batch_size',
    help: 'Writes that shared a transaction',
    labelNames: ['kind'],
    buckets: BATCH_SIZES,
    registers,
  });
  const durations = new Histogram({
    name: 'groundswell_write_transaction_duration_seconds',
    help: 'Time of a transaction of writes, its wait for a connection included',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  return (kind) => ({
    committed(items, seconds) {
      outcomes.inc({ kind, outcome: 'committed' });
      sizes.observe({ kind }, items);
      durations.observe({ kind }, seconds);
    },
    retried: () => outcomes.inc({ kind, outcome: 'retried' }),
    failed: () => outcomes.inc({ kind, outcome: 'failed' }),
    refused: () => refused.inc({ kind }),
  });
}
