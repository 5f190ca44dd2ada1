import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type FailureKind, INITIAL_STATE, type ProcessEffect, type ProcessEvent, step } from './process-state.ts';
import type { TaskMessage, TaskRequest } from './serve-tasks.ts';

export class TaskError extends Error {
  override readonly name = 'TaskError';

  constructor(
    readonly kind: FailureKind,
    message: string,
  ) {
    super(message);
  }
}

/** Runs tasks, one at a time, in a separate process, which may hang, crash or grow without affecting this one. */
export interface TaskProcess<Task, Result> {
  /** @throws TaskError */
  run(task: Task): Promise<Result>;
  /** Rejects the waiting tasks, and every later task that would have to wait. The running task finishes. */
  stopQueueing(): void;
  /** Kills the process; its tasks are rejected as `closed`. */
  close(): Promise<void>;
}

export interface TaskProcessOptions<Task> {
  /** Names the process in the log, such as `card-worker`. */
  name: string;
  log: { warn(details: object, message: string): void };
  /** The path of the program, in TypeScript or built; it must call `serveTasks`. */
  file: string;
  args?: readonly string[];
  /** Variables added to the minimal environment of the process, which contains no passwords. */
  environment?: Readonly<Record<string, string>>;
  /** Returns the fields that identify a failed task in the log. */
  describe(task: Task): object;
  /** The process is replaced if its resident memory exceeds this after a task. */
  maxResidentBytes?: number;
  /** A task that takes longer fails, and its process is killed. */
  timeoutMs?: number;
  /** A process without tasks ends after this time. */
  idleMs?: number;
}

const MAX_QUEUED = 64;
const DEFAULT_MAX_RESIDENT_BYTES = 192 * 1024 * 1024;
const START_TIMEOUT_MS = 30_000;
/** The delay before another attempt to start a process that did not start. */
const RETRY_START_MS = 60_000;

interface QueuedTask<Task, Result> {
  task: Task;
  resolve(result: Result): void;
  reject(error: TaskError): void;
}

/**
 * Starts the process when a task needs it, and stops it after `idleMs` without tasks. `process-state.ts` contains the
 * state machine.
 */
export function createTaskProcess<Task, Result>(options: TaskProcessOptions<Task>): TaskProcess<Task, Result> {
  const { name, log, describe, maxResidentBytes = DEFAULT_MAX_RESIDENT_BYTES } = options;
  const { timeoutMs = 10_000, idleMs = 60_000 } = options;
  const timeouts = { starting: START_TIMEOUT_MS, running: timeoutMs, idle: idleMs, unavailable: RETRY_START_MS };
  const tasks = new Map<number, QueuedTask<Task, Result>>();
  let lastNumber = 0;
  let maxQueued = MAX_QUEUED;
  let state = INITIAL_STATE;
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;

  function dispatch(event: ProcessEvent): void {
    const before = state;
    const next = step(before, event, maxQueued);
    state = next.state;
    const task = 'task' in state ? state.task : undefined;
    if (state.kind !== before.kind || task !== ('task' in before ? before.task : undefined)) restartTimer();
    for (const effect of next.effects) apply(effect);
  }

  function restartTimer(): void {
    clearTimeout(timer);
    if (state.kind === 'stopped' || state.kind === 'closed') return;
    timer = setTimeout(() => dispatch({ kind: 'timedOut' }), timeouts[state.kind]).unref();
  }

  function apply(effect: ProcessEffect): void {
    switch (effect.kind) {
      case 'start':
        startProcess();
        return;
      case 'run': {
        const task = tasks.get(effect.task)?.task;
        if (task !== undefined) child?.send({ number: effect.task, task } satisfies TaskRequest<Task>);
        return;
      }
      case 'release':
        if (child?.connected) child.disconnect();
        child = undefined;
        return;
      case 'kill':
        child?.kill('SIGKILL');
        child = undefined;
        return;
      case 'warn':
        log.warn(detailsOf(tasks.get(effect.task ?? 0)), effect.message);
        return;
      case 'reject':
        for (const task of effect.tasks) take(task)?.reject(new TaskError(effect.failure, effect.message));
    }
  }

  function startProcess(): void {
    const started = forkProgram(options);
    child = started;
    // Neither the child process nor its IPC channel keeps this process from exiting.
    started.unref();
    started.channel?.unref();
    started.on('message', (message: TaskMessage<Result>) => {
      if (child === started) receive(message);
    });
    started.on('error', (error) =>
      log.warn({ worker: name, err: error }, 'Cannot start, stop or reach the worker process'),
    );
    started.on('exit', (code, signal) => {
      if (child !== started) return;
      child = undefined;
      dispatch({ kind: 'exited', reason: `The process exited (${signal ?? code})` });
    });
  }

  function receive(message: TaskMessage<Result>): void {
    if (message.kind === 'ready') {
      dispatch({ kind: 'ready' });
      return;
    }
    const queued = take(message.number);
    if (message.kind === 'finished') {
      queued?.resolve(message.result);
    } else {
      log.warn({ ...detailsOf(queued), reason: message.reason }, 'The task failed');
      queued?.reject(new TaskError('failed', message.reason));
    }
    dispatch({ kind: 'finished', isOversized: message.residentBytes > maxResidentBytes });
  }

  function detailsOf(queued: QueuedTask<Task, Result> | undefined): object {
    return { worker: name, ...(queued && describe(queued.task)) };
  }

  function take(number: number): QueuedTask<Task, Result> | undefined {
    const queued = tasks.get(number);
    tasks.delete(number);
    return queued;
  }

  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        lastNumber += 1;
        tasks.set(lastNumber, { task, resolve, reject });
        dispatch({ kind: 'requested', task: lastNumber });
      }),
    stopQueueing() {
      maxQueued = 0;
      dispatch({ kind: 'drain' });
    },
    async close() {
      const last = child;
      const isRunning = last?.pid !== undefined && last.exitCode === null && last.signalCode === null;
      const ended = isRunning ? once(last, 'exit') : undefined;
      last?.ref();
      dispatch({ kind: 'close' });
      await ended;
    },
  };
}

const FORWARDED_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'LD_LIBRARY_PATH'];

function forkProgram({ file, args = [], environment }: TaskProcessOptions<never>): ChildProcess {
  const forwarded = FORWARDED_VARIABLES.map((name) => [name, process.env[name]]).filter(
    ([, value]) => value !== undefined,
  );
  return fork(file, args, {
    execArgv: file.endsWith('.ts') ? ['--import', 'tsx'] : ['--max-old-space-size=96'],
    env: { ...Object.fromEntries(forwarded), NODE_ENV: 'production', ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}
