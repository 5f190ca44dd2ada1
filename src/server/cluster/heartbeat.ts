import type { Brand } from '../../settings/brand.ts';
import type { MetricValues } from '../metrics/site-metrics.ts';

/** Messages from a worker to the primary process. */
export type FromWorker =
  /** The worker has loaded its code and receives messages. Messages sent to it earlier are lost. */
  | { kind: 'booted' }
  | { kind: 'up'; address: string }
  /** The worker cannot start; the message is for the operator. */
  | { kind: 'failed'; message: string }
  | { kind: 'pong'; isDebugged: boolean }
  | { kind: 'values'; request: number; values: MetricValues }
  /** A client requested the metrics, which aggregate all workers. */
  | { kind: 'metrics requested'; request: number };

/** Messages from the primary process to a worker. */
export type FromPrimary =
  /**
   * Tells the worker to serve this brand with this many database connections. The message carries the socket to listen
   * on.
   */
  | { kind: 'start'; brand: Brand; connections: number }
  | { kind: 'stop'; delayMs: number }
  | { kind: 'ping' }
  | { kind: 'values requested'; request: number }
  /** The metrics of all workers. `text` is unset if they could not be aggregated. */
  | { kind: 'metrics'; request: number; text?: string };

interface HeartbeatOptions<Process> {
  /** Returns the processes that are being watched. */
  processes: () => readonly Process[];
  sendPing: (process: Process) => void;
  /** Whether a debugger is attached to the process. Called only before the process is reported as lost. */
  isDebuggerAttached: (process: Process) => Promise<boolean>;
  /** Called for a process that did not respond in time. */
  onLost: (process: Process, silentS: number) => void;
}

export interface Heartbeat<Process> {
  recordPong(process: Process, isDebugged: boolean): void;
  stop(): void;
}

const INTERVAL_MS = 1_000;
/**
 * A process counts as hanging after this many unanswered checks: no synchronous work blocks a healthy process for that
 * long.
 */
const MAX_UNANSWERED = 20;

/**
 * Detects processes that hang, for example because of an endless loop, SIGSTOP or a disk that never responds. Counts
 * unanswered checks instead of time, so a worker survives when the machine sleeps or the primary process is paused.
 */
export function watchHeartbeats<Process extends object>(options: HeartbeatOptions<Process>): Heartbeat<Process> {
  const { processes, sendPing, isDebuggerAttached, onLost } = options;
  /** The number of unanswered checks of each process. */
  const unanswered = new Map<Process, number>();
  const debugged = new WeakSet<Process>();

  async function check(process: Process): Promise<void> {
    const count = unanswered.get(process);
    if (count === undefined) {
      unanswered.set(process, 0);
      sendPing(process);
      return;
    }
    // No further message is sent until the process responds, because unread messages would pile up.
    unanswered.set(process, count + 1);
    if (count + 1 < MAX_UNANSWERED || debugged.has(process)) return;
    const isAttached = await isDebuggerAttached(process);
    // If the process has responded in the meantime, the next check sends a message again.
    if (!unanswered.delete(process)) return;
    if (isAttached) unanswered.set(process, 0);
    else onLost(process, ((count + 1) * INTERVAL_MS) / 1_000);
  }

  const timer = setInterval(() => {
    const present = processes();
    for (const known of unanswered.keys()) if (!present.includes(known)) unanswered.delete(known);
    for (const process of present) void check(process);
  }, INTERVAL_MS);
  timer.unref();

  return {
    recordPong(process, isDebugged) {
      unanswered.delete(process);
      if (isDebugged) debugged.add(process);
      else debugged.delete(process);
    },
    stop: () => clearInterval(timer),
  };
}
