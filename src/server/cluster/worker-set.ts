import cluster, { type Worker } from 'node:cluster';
import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { StartError } from '../start-error.ts';
import { createCrashBudget } from './crash-budget.ts';
import { watchHeartbeats } from './heartbeat.ts';
import { isHeldByTracer } from './held-by-tracer.ts';
import type { FromPrimary, FromWorker } from './messages.ts';

/** After a stop, and its delay, processes that have not ended by then are killed; the site itself has ten seconds. */
const STOP_PATIENCE_MS = 8_000;

/** The processes that serve. */
export interface WorkerSet {
  address: string;
  /** Those that serve at the moment. */
  up(): Worker[];
  /** How many crashed and were replaced, or will be. */
  replaced(): number;
  /** Stops all of them in order; killed are those that do not come to an end. */
  stop(delayMs: number): Promise<void>;
  /** Resolves when none is left and none will be started. */
  lost: Promise<Error>;
}

export interface WorkerSetOptions {
  processes: number;
  /** To the database, for each. */
  connections: number;
  log: Log;
  onMessage: (worker: Worker, message: FromWorker) => void;
}

/** Starts the processes that serve, and replaces those that crash or hang. @throws StartError where the first ones cannot start. */
export async function startWorkers({ processes, connections, log, onMessage }: WorkerSetOptions): Promise<WorkerSet> {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: join(PACKAGE_FOLDERS.server, 'cli.js'), args: ['serve'] });
  const budget = createCrashBudget();
  const all = new Set<Worker>();
  const up = new Set<Worker>();
  const restarts = new Set<NodeJS.Timeout>();
  let replaced = 0;
  let isStopping = false;
  /** The port that the kernel picked for the first, so that the last to crash is replaced at the same one. */
  let port: string | undefined;
  let lose = (_error: Error) => {};
  const lost = new Promise<Error>((resolve) => {
    lose = resolve;
  });

  const heartbeat = watchHeartbeats<Worker>({
    processes: () => [...up],
    ask: (worker) => send(worker, { kind: 'still alive?' }),
    isHeld: (worker) => isHeldByTracer(worker.process.pid),
    onLost(worker, silentS) {
      log.error({ pid: worker.process.pid, silentS }, 'A process that serves does not answer any more, and is killed');
      worker.process.kill('SIGKILL');
    },
  });

  function start(): Promise<string> {
    const worker = cluster.fork(port === undefined ? {} : { PORT: port });
    all.add(worker);
    return new Promise((resolve, reject) => {
      let reason = 'A process that serves ended before it was up';
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listening')
          send(worker, isStopping ? { kind: 'stop', delayMs: 0 } : { kind: 'start', connections });
        else if (message.kind === 'up') {
          up.add(worker);
          resolve(message.address);
        } else if (message.kind === 'failed') reason = message.message;
        else if (message.kind === 'alive') heartbeat.heard(worker, message.isDebugged);
        else onMessage(worker, message);
      });
      // A message that finds no reader is no fault: the process is about to be seen to have ended.
      worker.on('error', (error) => log.warn({ err: error }, 'A process that serves could not be reached'));
      worker.on('exit', (code, signal) => {
        all.delete(worker);
        if (up.delete(worker) || port !== undefined) ended(worker, signal ?? `code ${code}`);
        reject(new StartError(reason));
      });
    });
  }

  function ended(worker: Worker, how: string): void {
    if (isStopping) return;
    const pid = worker.process.pid;
    const delayMs = budget.crashed();
    if (delayMs !== undefined) {
      log.error({ pid, how, delayMs }, 'A process that serves ended, and is replaced');
      replaced += 1;
      const timer = setTimeout(() => {
        restarts.delete(timer);
        start().catch((error: unknown) => log.error({ err: error }, 'A process that serves could not be replaced'));
      }, delayMs);
      restarts.add(timer);
      return;
    }
    log.error({ pid, how, left: all.size }, 'A process that serves ended, and is not replaced: too many did lately');
    if (all.size === 0 && restarts.size === 0)
      lose(new Error('The processes that serve crashed again and again; see the log'));
  }

  async function stop(delayMs: number): Promise<void> {
    isStopping = true;
    heartbeat.stop();
    for (const timer of restarts) clearTimeout(timer);
    const gone = [...all].map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of all) send(worker, { kind: 'stop', delayMs });
    const last = setTimeout(() => {
      for (const worker of all) worker.process.kill('SIGKILL');
    }, delayMs + STOP_PATIENCE_MS);
    await Promise.all(gone);
    clearTimeout(last);
  }

  try {
    const [address = ''] = await Promise.all(Array.from({ length: processes }, start));
    port = new URL(address).port;
    return { address, up: () => [...up], replaced: () => replaced, stop, lost };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

function send(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message);
}
