import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { WriteKind } from '../../core/core.ts';
import type { ReadStats } from '../../core/database/replicas.ts';
import type { GroupCommitObserver } from '../../core/group-commit.ts';
import type { RepeatObserver } from '../cache/repeat-answers.ts';
import { type Watched, watch, watchBackups, watchDrift, watchProcesses, watchReads } from './asked-metrics.ts';
import { countRequestsIn, observeWritesIn } from './counted-metrics.ts';

/** What the site tells a Prometheus server. No label ever holds a session id, an address or a path that a visitor chose. */
export interface SiteMetrics {
  /** Counts and times every request to routes that are registered from now on. */
  watchRequests(app: FastifyInstance): void;
  /** Counts and times what was answered before any route was asked. */
  observeRepeat: RepeatObserver;
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

/** Metrics in a registry of their own, with those of the process and its event loop. */
export function createSiteMetrics(): SiteMetrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const { watchRequests, observeRepeat } = countRequestsIn(registers);
  return {
    watchRequests,
    observeRepeat,
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
