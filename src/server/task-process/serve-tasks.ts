import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** A message from the parent to the process. */
export interface TaskRequest<Task> {
  number: number;
  task: Task;
}

/** A message from the process: first that it is ready, then a response to each request. */
export type TaskMessage<Result> =
  | { kind: 'ready' }
  | { kind: 'finished'; number: number; result: Result; residentBytes: number }
  | { kind: 'failed'; number: number; reason: string; residentBytes: number };

const MEMORY_CHECK_MS = 10;

interface ServeTasksOptions {
  /** If the resident memory exceeds this during a task, the process kills itself. If unset, there is no limit. */
  maxResidentBytes?: number;
}

/**
 * The counterpart of `createTaskProcess` in the child process: runs each task that the parent sends, at low priority.
 * `prepare` loads slow libraries at normal priority: at low priority, that could exceed the start timeout on a busy
 * machine.
 */
export async function serveTasks<Task, Result>(
  prepare: () => Promise<(task: Task) => Promise<Result>>,
  { maxResidentBytes }: ServeTasksOptions = {},
): Promise<void> {
  if (process.send === undefined) throw new Error('This program must be started by createTaskProcess');
  const send = (message: TaskMessage<Result>) => process.send?.(message);
  preferKilling();
  // Ctrl-C in a terminal signals the whole process group, but the parent decides when this process stops.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.on('disconnect', () => process.exit());
  const run = await prepare();
  lowerPriority();
  process.on('message', ({ number, task }: TaskRequest<Task>) => {
    const watch = maxResidentBytes === undefined ? undefined : killAbove(maxResidentBytes);
    run(task)
      .then(
        (result) => send({ kind: 'finished', number, result, residentBytes: process.memoryUsage.rss() }),
        (error: unknown) =>
          send({ kind: 'failed', number, reason: String(error), residentBytes: process.memoryUsage.rss() }),
      )
      .finally(() => clearInterval(watch));
  });
  send({ kind: 'ready' });
}

/** Lowers the priority of this process (on Linux: of its main thread), because pages are more urgent than tasks. */
function lowerPriority(): void {
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // If this is not permitted, tasks run at normal priority.
  }
}

/** Makes Linux kill this process instead of the parent or its database if memory runs out. */
function preferKilling(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000', { flag: 'r+' });
  } catch {
    // The file is missing on other systems, and may not be writable.
  }
}

/**
 * Kills the process if its memory exceeds `bytes`. Tasks do not block this timer if their native code runs in its own
 * threads.
 */
function killAbove(bytes: number): NodeJS.Timeout {
  return setInterval(() => {
    if (process.memoryUsage.rss() > bytes) process.kill(process.pid, 'SIGKILL');
  }, MEMORY_CHECK_MS);
}
