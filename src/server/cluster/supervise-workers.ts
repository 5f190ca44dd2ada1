import cluster, { type Worker } from 'node:cluster';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../core/runtime.ts';
import type { Brand } from '../../settings/brand.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { startDeadline } from '../deadline.ts';
import { type FromPrimary, type FromWorker, watchHeartbeats } from './heartbeat.ts';
import type { SocketHandle } from './listening-sockets.ts';
import { type FleetEffect, type FleetEvent, type FleetState, launchFleet, type Step, step } from './worker-states.ts';

/**
 * A worker that has not exited this long after the stop delay is killed. The time is shorter than the ten seconds after
 * which `groundswell serve` aborts the remaining requests.
 */
const STOP_TIMEOUT_MS = 8_000;
/** Timeout for loading the code, and again for starting. Both take far less, even on an overloaded machine. */
const START_TIMEOUT_MS = 60_000;

/** The processes that serve requests. */
interface Workers {
  address: string;
  /** Returns the workers that serve, including those that are stopping. */
  up(): Worker[];
  /** Returns how many workers exited, or hung and were killed, while they started or served. Each is replaced. */
  replaced(): number;
  /** Stops all workers gracefully, and kills those that do not exit in time. */
  stop(delayMs: number): Promise<void>;
  /** Resolves with the reason when no worker serves and no more will be started. */
  lost: Promise<Error>;
}

interface WorkersOptions {
  processes: number;
  /** The socket stays open in this process, so connections wait while no worker runs. */
  socket: SocketHandle;
  brand: Brand;
  /** The number of database connections of each worker. */
  connections: number;
  log: Log;
  onMessage: (worker: Worker, message: FromWorker) => void;
}

/**
 * Starts the workers, and replaces those that crash or hang.
 * @throws Error if one of the first workers cannot start.
 */
export async function startWorkers({
  processes,
  socket,
  brand,
  connections,
  log,
  onMessage,
}: WorkersOptions): Promise<Workers> {
  // JSON, the default, would not preserve the bytes of the logo.
  cluster.setupPrimary({ exec: join(PACKAGE_FOLDERS.server, 'cli.js'), args: ['serve'], serialization: 'advanced' });
  const workers = new Map<number, Worker>();
  const timers = new Set<NodeJS.Timeout>();
  let fleet: FleetState = { kind: 'stopping', workers: new Map() };
  let address = '';
  let replaced = 0;
  const launched = deferred<void>();
  const lost = deferred<Error>();

  const heartbeat = watchHeartbeats<Worker>({
    processes: () => [...workersIn('spare', 'starting', 'up')],
    sendPing: (worker) => send(worker, { kind: 'ping' }),
    isDebuggerAttached: (worker) => isDebuggerAttached(worker.process.pid),
    onLost(worker, silentS) {
      log.error({ pid: worker.process.pid, silentS }, 'Killing unresponsive worker');
      worker.process.kill('SIGKILL');
    },
  });

  function apply({ state, effects }: Step): void {
    fleet = state;
    effects.forEach(run);
  }

  const dispatch = (event: FleetEvent) => apply(step(fleet, event, processes, performance.now()));

  function run(effect: FleetEffect): void {
    if (effect.kind === 'fork') fork(effect.id);
    if (effect.kind === 'start') start(effect.id);
    if (effect.kind === 'retry later') after(effect.delayMs, () => dispatch({ kind: 'retry' }));
    if (effect.kind === 'launched') launched.resolve();
    if (effect.kind === 'give up') {
      // Not a StartError, which would mean invalid settings: the primary process has checked those already.
      launched.reject(new Error(effect.reason));
      lost.resolve(new Error(`The workers keep failing to start: ${effect.reason}`));
    }
  }

  function fork(id: number): void {
    const worker = cluster.fork();
    let reason = 'A worker exited before it was ready';
    workers.set(id, worker);
    killIfStill(id, 'booting');
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'booted') {
        dispatch({ kind: 'booted', id });
        // If the fleet was stopped or lost before this worker could receive messages, the worker stops now.
        if (fleet.kind === 'stopping' || fleet.kind === 'lost') send(worker, { kind: 'stop', delayMs: 0 });
      } else if (message.kind === 'up') {
        address = message.address;
        dispatch({ kind: 'up', id });
      } else if (message.kind === 'failed') {
        reason = message.message;
        // During the launch, `startWorkers` throws this reason.
        if (fleet.kind === 'running') log.error({ pid: worker.process.pid, reason }, 'A worker cannot start');
      } else if (message.kind === 'pong') heartbeat.recordPong(worker, message.isDebugged);
      else onMessage(worker, message);
    });
    worker.on('error', (error) => {
      // This is only a warning, because sending fails if the worker is exiting, and its `exit` event follows.
      log.warn({ err: error }, 'Cannot start, stop or reach a worker process');
      // A process that could not be started has no `exit` event.
      if (worker.process.pid === undefined) replace(id, 'not started', reason);
    });
    worker.on('exit', (code, signal) => replace(id, signal ?? `code ${code}`, reason));
  }

  function replace(id: number, how: string, reason: string): void {
    const pid = workers.get(id)?.process.pid;
    workers.delete(id);
    if (fleet.kind === 'running') {
      const { phase } = fleet.workers.get(id) ?? {};
      log.error({ pid, how, phase }, 'Replacing a worker that exited');
      if (phase === 'up' || phase === 'starting') replaced += 1;
    }
    dispatch({ kind: 'exited', id, reason });
  }

  function start(id: number): void {
    const worker = workers.get(id);
    if (!worker) return;
    send(worker, { kind: 'start', brand, connections }, socket);
    killIfStill(id, 'starting');
  }

  /** Kills a worker that is still in this phase when the timeout expires. */
  function killIfStill(id: number, phase: 'booting' | 'starting'): void {
    after(START_TIMEOUT_MS, () => {
      const worker = workersIn(phase).find((found) => found === workers.get(id));
      if (!worker) return;
      log.error({ pid: worker.process.pid, phase }, 'Killing a worker that did not start in time');
      worker.process.kill('SIGKILL');
    });
  }

  function workersIn(...phases: string[]): Worker[] {
    if (!('workers' in fleet)) return [];
    const { workers: states } = fleet;
    return [...workers].flatMap(([id, worker]) => (phases.includes(states.get(id)?.phase ?? '') ? [worker] : []));
  }

  function after(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, delayMs);
    timers.add(timer);
  }

  async function stop(delayMs: number): Promise<void> {
    dispatch({ kind: 'stop' });
    heartbeat.stop();
    for (const timer of timers) clearTimeout(timer);
    // Workers accept connections until they close their own copies of the socket.
    socket.close();
    const all = [...workers.values()];
    const exits = all.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of all) send(worker, { kind: 'stop', delayMs });
    const endDeadline = startDeadline(delayMs + STOP_TIMEOUT_MS, () => {
      for (const worker of all) worker.process.kill('SIGKILL');
    });
    await Promise.all(exits);
    endDeadline();
  }

  apply(launchFleet(processes, performance.now()));
  try {
    await launched.promise;
  } catch (error) {
    await stop(0);
    throw error;
  }
  return { address, up: () => workersIn('up'), replaced: () => replaced, stop, lost: lost.promise };
}

interface Deferred<Value> {
  promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
}

function deferred<Value>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, 'promise'> = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

function send(worker: Worker, message: FromPrimary, socket?: SocketHandle): void {
  // The types allow only servers and sockets, but Node also sends bare handles.
  if (worker.isConnected()) worker.send(message, socket as never);
}

/** Returns whether a debugger or a tracer (gdb, strace) is attached to a process, on Linux. */
async function isDebuggerAttached(pid: number | undefined): Promise<boolean> {
  try {
    return /^TracerPid:\t[1-9]/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // The system is not Linux, or the process has exited.
    return false;
  }
}
