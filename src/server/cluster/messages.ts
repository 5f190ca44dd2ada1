import type { MetricValues } from '../metrics/site-metrics.ts';

/** What a process that serves tells the first one. */
export type FromWorker =
  /** It listens, and waits to be told to start: what is sent before is lost. */
  | { kind: 'listening' }
  | { kind: 'up'; address: string }
  /** It cannot start; the message is for the operator. */
  | { kind: 'failed'; message: string }
  | { kind: 'values'; request: number; values: MetricValues }
  /** Somebody asks it for the metrics, which are those of all. */
  | { kind: 'metrics wanted'; request: number }
  /** It still gets its turn. One that is being debugged may soon get none for as long as somebody looks at it. */
  | { kind: 'alive'; isDebugged: boolean };

/** What the first process tells one that serves. */
export type FromPrimary =
  /** With so many connections to the database. */
  | { kind: 'start'; connections: number }
  | { kind: 'still alive?' }
  | { kind: 'stop'; delayMs: number }
  | { kind: 'values wanted'; request: number }
  | { kind: 'metrics'; request: number; text: string };
