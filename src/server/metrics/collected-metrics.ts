import { Counter, Gauge, type Registry } from 'prom-client';
import type { Core } from '../../core/core.ts';
import type { Database } from '../../core/database/database.ts';
import type { ReadStats } from '../../core/database/replicas.ts';
import type { WaitingSubmissions } from '../../core/submissions/list-submissions.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { WebhookDeliveries } from '../jobs/deliver-webhooks.ts';
import type { Finalizer } from '../jobs/schedule-finalizing.ts';
import type { Live } from '../live/live.ts';

interface MetricSources {
  core: Pick<Core, 'queuedWrites'>;
  database: Pick<Database, 'connections'>;
  live: Pick<Live, 'stats'>;
  cache: Pick<ResponseCache, 'sizeBytes' | 'stats' | 'isConnected'>;
}

/** One number, or a number for each value of the label. */
type Values = number | Readonly<Record<string, number>>;

interface MetricDefinition {
  name: string;
  help: string;
  label?: string;
  /** How the values of several processes are combined. By default, they are summed. */
  aggregator?: 'min';
  read(): Values;
}

/** Registers a gauge whose value is read at each scrape. */
function gauge(registers: Registry[], { name, help, label, aggregator, read }: MetricDefinition): void {
  new Gauge({
    name,
    help,
    ...(aggregator && { aggregator }),
    labelNames: label === undefined ? [] : [label],
    registers,
    collect() {
      for (const [labels, value] of labelled(read(), label)) this.set(labels, value);
    },
  });
}

/** Registers a counter that is counted elsewhere and read at each scrape. */
function counter(registers: Registry[], { name, help, label, read }: MetricDefinition): void {
  new Counter({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers,
    collect() {
      this.reset();
      for (const [labels, value] of labelled(read(), label)) this.inc(labels, value);
    },
  });
}

function labelled(values: Values, label = ''): [labels: Record<string, string>, value: number][] {
  if (typeof values === 'number') return [[{}, values]];
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);
}

/** Adds metrics of writes, database connections, the cache and event streams. */
export function addSiteMetrics(registers: Registry[], { core, cache, database, live }: MetricSources): void {
  gauge(registers, {
    name: 'groundswell_write_queue_depth',
    help: 'Writes waiting for a transaction',
    label: 'kind',
    read: () => core.queuedWrites(),
  });
  gauge(registers, {
    name: 'groundswell_database_connections',
    help: 'Database connections: busy, idle, maximum, and callers waiting for one',
    label: 'state',
    read: () => ({ ...database.connections() }),
  });
  gauge(registers, {
    name: 'groundswell_database_unreachable',
    help: 'Processes that cannot reach the database',
    read: () => (cache.isConnected() ? 0 : 1),
  });
  counter(registers, {
    name: 'groundswell_cache_responses_total',
    help: 'Cacheable responses: hit, miss (produced for the request), or stale (may be out of date)',
    label: 'outcome',
    read: () => ({ ...cache.stats() }),
  });
  gauge(registers, {
    name: 'groundswell_cache_bytes',
    help: 'Memory used by cached responses',
    read: () => cache.sizeBytes(),
  });
  gauge(registers, { name: 'groundswell_streams_open', help: 'Open event streams', read: () => live.stats().open });
  counter(registers, {
    name: 'groundswell_streams_dropped_total',
    help: 'Event streams closed because their client did not read',
    read: () => live.stats().dropped,
  });
  counter(registers, {
    name: 'groundswell_stream_frames_total',
    help: 'Event frames sent, counted for each stream, excluding heartbeats',
    read: () => live.stats().frames,
  });
}

/** Adds a metric of the number of products whose stored counts differ from the number of their rows. */
export function addDriftMetrics(registers: Registry[], drift: { drift(): number }): void {
  gauge(registers, {
    name: 'groundswell_count_drift',
    help: 'Products whose counts differed from their rows when they were last checked',
    read: () => drift.drift(),
  });
}

/** Adds metrics of submissions that wait for a decision. */
export function addSubmissionMetrics(registers: Registry[], { waiting }: { waiting(): WaitingSubmissions }): void {
  gauge(registers, {
    name: 'groundswell_submissions_waiting',
    help: 'Submissions waiting for a decision: suspected spam, and others',
    label: 'kind',
    read() {
      const { waiting: all, suspectedSpam: spam } = waiting();
      return { spam, other: all - spam };
    },
  });
  gauge(registers, {
    name: 'groundswell_submissions_oldest_timestamp_seconds',
    help: 'When the longest-waiting submission that is not suspected spam began to wait; 0 if there is none',
    read: () => (waiting().oldestSince?.getTime() ?? 0) / 1_000,
  });
}

/** Adds metrics of reads by server, for sites with replicas. */
export function addReadMetrics(registers: Registry[], { stats }: { stats(): ReadStats }): void {
  counter(registers, {
    name: 'groundswell_reads_total',
    help: 'Reads by server: primary or replicas',
    label: 'from',
    read() {
      const { primary, replicas } = stats();
      return { primary, replicas };
    },
  });
  gauge(registers, {
    name: 'groundswell_replicas_usable',
    help: 'Replicas usable for reads (the minimum over all processes)',
    aggregator: 'min',
    read: () => stats().usable,
  });
}

/** Adds metrics of worker processes, for sites with several. */
export function addWorkerMetrics(registers: Registry[], { up, replaced }: { up(): number; replaced(): number }): void {
  gauge(registers, {
    name: 'groundswell_processes_up',
    help: 'Running worker processes',
    read: up,
  });
  counter(registers, {
    name: 'groundswell_processes_replaced_total',
    help: 'Worker processes that crashed, hung or failed to start serving, and were replaced',
    read: replaced,
  });
}

export function addBackupMetrics(
  registers: Registry[],
  { lastSuccess, failures }: { lastSuccess(): Date | undefined; failures(): number },
): void {
  gauge(registers, {
    name: 'groundswell_backup_last_success_timestamp_seconds',
    help: 'Start of the last complete scheduled backup of any process; 0 if there is none',
    read: () => (lastSuccess()?.getTime() ?? 0) / 1_000,
  });
  counter(registers, {
    name: 'groundswell_backup_failures_total',
    help: 'Failed scheduled backups of this process',
    read: failures,
  });
}

/** Adds metrics of leaderboards, their votes and the finalizing of results. */
export function addLeaderboardMetrics(
  registers: Registry[],
  { stats, seconds, failures }: Omit<Finalizer, 'close'>,
): void {
  gauge(registers, {
    name: 'groundswell_leaderboards',
    help: 'Leaderboards: open or provisional, final, and overdue days among the open ones',
    label: 'state',
    read: () => stats().boards,
  });
  gauge(registers, {
    name: 'groundswell_launch_votes',
    help: 'Votes in the windows of launches in the last four days: counted, or excluded by reason',
    label: 'outcome',
    read: () => stats().votes,
  });
  counter(registers, {
    name: 'groundswell_finalize_seconds_total',
    help: 'Time that this process spent on finalizing leaderboards',
    read: seconds,
  });
  counter(registers, {
    name: 'groundswell_finalize_failures_total',
    help: 'Failed attempts of this process to finalize leaderboards',
    read: failures,
  });
}

/** Adds metrics of webhooks, for sites with a receiver. */
export function addWebhookMetrics(registers: Registry[], { status, attempts }: Omit<WebhookDeliveries, 'close'>): void {
  counter(registers, {
    name: 'groundswell_webhook_attempts_total',
    help: 'Webhook delivery attempts of this process (delivered or failed), and webhooks that expired undelivered',
    label: 'outcome',
    read: attempts,
  });
  gauge(registers, {
    name: 'groundswell_webhook_events_waiting',
    help: 'Webhooks that are waiting for delivery',
    read: () => status().waiting,
  });
  gauge(registers, {
    name: 'groundswell_webhook_receiver_failing_since_timestamp_seconds',
    help: 'When deliveries began to fail; 0 while they succeed',
    read: () => (status().failingSince?.getTime() ?? 0) / 1_000,
  });
}
