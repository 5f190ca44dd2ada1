import { Counter, Gauge, type Registry } from 'prom-client';
import type { Core } from '../../core/core.ts';
import type { Database } from '../../core/database/database.ts';
import type { ReadStats } from '../../core/database/replicas.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Live } from '../live/live.ts';

export interface Watched {
  core: Pick<Core, 'queuedWrites'>;
  database: Pick<Database, 'connections'>;
  live: Pick<Live, 'stats'>;
  cache: Pick<AnswerCache, 'sizeBytes' | 'stats'>;
}

/** A number, or one for each value of the label. */
type Values = number | Readonly<Record<string, number>>;

interface Asked {
  name: string;
  help: string;
  label?: string;
  read(): Values;
}

/** What goes up and down, asked for whenever somebody looks. */
function gauge(registers: Registry[], { name, help, label, read }: Asked): void {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers,
    collect() {
      for (const [labels, value] of labelled(read(), label)) this.set(labels, value);
    },
  });
}

/** What only grows, counted elsewhere. */
function counter(registers: Registry[], { name, help, label, read }: Asked): void {
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

export function watch({ core, cache, database, live }: Watched, registers: Registry[]): void {
  gauge(registers, {
    name: 'groundswell_write_queue_depth',
    help: 'Writes that wait for a transaction',
    label: 'kind',
    read: () => core.queuedWrites(),
  });
  gauge(registers, {
    name: 'groundswell_database_connections',
    help: 'Connections to the database: busy, idle, the most there may be, and callers that wait for one',
    label: 'state',
    read: () => ({ ...database.connections() }),
  });
  counter(registers, {
    name: 'groundswell_answers_total',
    help: 'Answers that are kept once made: sent as kept, made for the request, or sent outdated while the next is made',
    label: 'outcome',
    read: () => ({ ...cache.stats() }),
  });
  gauge(registers, {
    name: 'groundswell_answers_kept_bytes',
    help: 'Memory that kept answers take',
    read: () => cache.sizeBytes(),
  });
  gauge(registers, { name: 'groundswell_streams_open', help: 'Open streams of events', read: () => live.stats().open });
  counter(registers, {
    name: 'groundswell_streams_dropped_total',
    help: 'Streams that were let go because their client did not read',
    read: () => live.stats().dropped,
  });
  counter(registers, {
    name: 'groundswell_stream_frames_total',
    help: 'Frames that were sent, once for each stream, heartbeats not among them',
    read: () => live.stats().frames,
  });
}

export function watchDrift(drift: { drift(): number }, registers: Registry[]): void {
  gauge(registers, {
    name: 'groundswell_count_drift',
    help: 'Products whose counts were not those of their rows, in the last full round or the one under way',
    read: () => drift.drift(),
  });
}

export function watchReads({ stats }: { stats(): ReadStats }, registers: Registry[]): void {
  counter(registers, {
    name: 'groundswell_reads_total',
    help: 'Statements that only read, by where they were sent',
    label: 'from',
    read() {
      const { primary, replicas } = stats();
      return { primary, replicas };
    },
  });
  gauge(registers, {
    name: 'groundswell_replicas_usable',
    help: 'Replicas that are read from',
    read: () => stats().usable,
  });
}

export function watchProcesses({ up, replaced }: { up(): number; replaced(): number }, registers: Registry[]): void {
  gauge(registers, {
    name: 'groundswell_processes_up',
    help: 'Processes of this machine that serve, where there are several',
    read: up,
  });
  counter(registers, {
    name: 'groundswell_processes_replaced_total',
    help: 'Processes that serve that crashed and were replaced',
    read: replaced,
  });
}

export function watchBackups(
  { lastSuccess, failures }: { lastSuccess(): Date | undefined; failures(): number },
  registers: Registry[],
): void {
  gauge(registers, {
    name: 'groundswell_backup_last_success_timestamp_seconds',
    help: 'When the last scheduled backup began that is whole, by whichever process; 0 when there is none',
    read: () => (lastSuccess()?.getTime() ?? 0) / 1_000,
  });
  counter(registers, {
    name: 'groundswell_backup_failures_total',
    help: 'Scheduled backups of this process that failed',
    read: failures,
  });
}
