import { expect, test } from 'vitest';
import { type FailureKind, type ProcessEffect, type ProcessEvent, type ProcessState, step } from './process-state.ts';

const warn = (message: string, task?: number): ProcessEffect => ({ kind: 'warn', message, ...(task && { task }) });
const rejected =
  (failure: FailureKind) =>
  (message: string, ...tasks: number[]): ProcessEffect => ({ kind: 'reject', tasks, failure, message });
const failed = rejected('failed');
const unavailable = rejected('unavailable');
const closed = (...tasks: number[]) => expect.objectContaining({ kind: 'reject', tasks, failure: 'closed' });

interface Transition {
  name: string;
  from: ProcessState;
  event: ProcessEvent;
  to: ProcessState;
  effects: unknown[];
}

const TRANSITIONS: Transition[] = [
  {
    name: 'the first task starts the process',
    from: { kind: 'stopped' },
    event: { kind: 'requested', task: 1 },
    to: { kind: 'starting', waiting: [1] },
    effects: [{ kind: 'start' }],
  },
  {
    name: 'a process that is ready runs the first task',
    from: { kind: 'starting', waiting: [1, 2] },
    event: { kind: 'ready' },
    to: { kind: 'running', waiting: [2], task: 1 },
    effects: [{ kind: 'run', task: 1 }],
  },
  {
    name: 'an idle process runs a task at once',
    from: { kind: 'idle' },
    event: { kind: 'requested', task: 3 },
    to: { kind: 'running', waiting: [], task: 3 },
    effects: [{ kind: 'run', task: 3 }],
  },
  {
    name: 'a task waits while another one runs',
    from: { kind: 'running', waiting: [2], task: 1 },
    event: { kind: 'requested', task: 3 },
    to: { kind: 'running', waiting: [2, 3], task: 1 },
    effects: [],
  },
  {
    name: 'a full queue refuses a task',
    from: { kind: 'running', waiting: [2, 3], task: 1 },
    event: { kind: 'requested', task: 4 },
    to: { kind: 'running', waiting: [2, 3], task: 1 },
    effects: [{ kind: 'reject', tasks: [4], failure: 'busy', message: 'Too many tasks are waiting' }],
  },
  {
    name: 'the next task starts when one finishes',
    from: { kind: 'running', waiting: [2, 3], task: 1 },
    event: { kind: 'finished', isOversized: false },
    to: { kind: 'running', waiting: [3], task: 2 },
    effects: [{ kind: 'run', task: 2 }],
  },
  {
    name: 'the process is idle after the last task',
    from: { kind: 'running', waiting: [], task: 1 },
    event: { kind: 'finished', isOversized: false },
    to: { kind: 'idle' },
    effects: [],
  },
  {
    name: 'a process that uses too much memory is replaced before the next task',
    from: { kind: 'running', waiting: [2], task: 1 },
    event: { kind: 'finished', isOversized: true },
    to: { kind: 'starting', waiting: [2] },
    effects: [{ kind: 'release' }, { kind: 'start' }],
  },
  {
    name: 'a process that uses too much memory is released if no task waits',
    from: { kind: 'running', waiting: [], task: 1 },
    event: { kind: 'finished', isOversized: true },
    to: { kind: 'stopped' },
    effects: [{ kind: 'release' }],
  },
  {
    name: 'a process that is idle for too long is released',
    from: { kind: 'idle' },
    event: { kind: 'timedOut' },
    to: { kind: 'stopped' },
    effects: [{ kind: 'release' }],
  },
  {
    name: 'after a crash, the running task fails and another process starts for the next task',
    from: { kind: 'running', waiting: [2], task: 1 },
    event: { kind: 'exited', reason: 'SIGSEGV' },
    to: { kind: 'starting', waiting: [2] },
    effects: [warn('SIGSEGV', 1), failed('SIGSEGV', 1), { kind: 'start' }],
  },
  {
    name: 'a hanging process is killed, and another process starts for the next task',
    from: { kind: 'running', waiting: [2], task: 1 },
    event: { kind: 'timedOut' },
    to: { kind: 'starting', waiting: [2] },
    effects: [
      { kind: 'kill' },
      warn('The task took too long', 1),
      failed('The task took too long', 1),
      { kind: 'start' },
    ],
  },
  {
    name: 'after an idle process has exited, only a task starts another one',
    from: { kind: 'idle' },
    event: { kind: 'exited', reason: 'SIGKILL' },
    to: { kind: 'stopped' },
    effects: [warn('SIGKILL')],
  },
  {
    name: 'a process that exits before it is ready fails every task',
    from: { kind: 'starting', waiting: [1, 2] },
    event: { kind: 'exited', reason: '1' },
    to: { kind: 'unavailable' },
    effects: [warn('1'), unavailable('1', 1, 2)],
  },
  {
    name: 'a process that does not start in time is killed',
    from: { kind: 'starting', waiting: [1] },
    event: { kind: 'timedOut' },
    to: { kind: 'unavailable' },
    effects: [
      { kind: 'kill' },
      warn('The process did not start in time'),
      unavailable('The process did not start in time', 1),
    ],
  },
  {
    name: 'tasks fail while the process is unavailable',
    from: { kind: 'unavailable' },
    event: { kind: 'requested', task: 3 },
    to: { kind: 'unavailable' },
    effects: [unavailable('The process did not start; another attempt will follow', 3)],
  },
  {
    name: 'after the retry delay, the process may be started again',
    from: { kind: 'unavailable' },
    event: { kind: 'timedOut' },
    to: { kind: 'stopped' },
    effects: [],
  },
  {
    name: 'draining lets the running task finish and rejects the waiting ones',
    from: { kind: 'running', waiting: [2, 3], task: 1 },
    event: { kind: 'drain' },
    to: { kind: 'running', waiting: [], task: 1 },
    effects: [closed(2, 3)],
  },
  {
    name: 'draining keeps the task for which the process is starting',
    from: { kind: 'starting', waiting: [1, 2] },
    event: { kind: 'drain' },
    to: { kind: 'starting', waiting: [1] },
    effects: [closed(2)],
  },
  {
    name: 'closing rejects every task and kills the process',
    from: { kind: 'running', waiting: [2], task: 1 },
    event: { kind: 'close' },
    to: { kind: 'closed' },
    effects: [closed(1, 2), { kind: 'kill' }],
  },
  {
    name: 'a closed process refuses tasks',
    from: { kind: 'closed' },
    event: { kind: 'requested', task: 9 },
    to: { kind: 'closed' },
    effects: [closed(9)],
  },
  {
    name: 'an exit after closing changes nothing',
    from: { kind: 'closed' },
    event: { kind: 'exited', reason: 'SIGKILL' },
    to: { kind: 'closed' },
    effects: [],
  },
];

test.each(TRANSITIONS)('$name', ({ from, event, to, effects }) => {
  expect(step(from, event, 2)).toEqual({ state: to, effects });
});

test('after draining, no task is queued, but an idle process still runs a task', () => {
  const event: ProcessEvent = { kind: 'requested', task: 2 };
  const running: ProcessState = { kind: 'running', waiting: [], task: 1 };
  const effects = [expect.objectContaining({ kind: 'reject', tasks: [2], failure: 'busy' })];
  expect(step(running, event, 0)).toEqual({ state: running, effects });
  expect(step({ kind: 'idle' }, event, 0).effects).toEqual([{ kind: 'run', task: 2 }]);
});
