import type { MetricValues } from '../metrics/site-metrics.ts';

/** What a process that serves tells the first one. */
export type FromWorker =
  | { kind: 'up'; address: string }
  /** It cannot start; the message is for the operator. */
  | { kind: 'failed'; message: string }
  | { kind: 'values'; request: number; values: MetricValues }
  /** Somebody asks it for the metrics, which are those of all. */
  | { kind: 'metrics wanted'; request: number };

/** What the first process tells one that serves. */
export type FromPrimary =
  | { kind: 'stop'; delayMs: number }
  | { kind: 'values wanted'; request: number }
  | { kind: 'metrics'; request: number; text: string };
