import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createTaskProcess, type TaskProcess, type TaskProcessOptions } from './task-process.ts';

/** A program that does what the name of each task says. */
const PROGRAM = `
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());
process.on('message', ({ number, task }) => {
  if (task === 'crash') process.exit(7);
  if (task === 'hang') for (;;);
  if (task === 'refuse') return process.send({ kind: 'failed', number, reason: 'no', residentBytes: 1 });
  const result = task + ' by ' + process.pid;
  process.send({ kind: 'finished', number, result, residentBytes: task === 'grow' ? 1_001 : 1 });
});
process.send({ kind: 'ready' });
`;

/** Allocates memory until it is killed, and lets timers run in between. */
const GLUTTON = `
import { serveTasks } from ${JSON.stringify(fileURLToPath(new URL('./serve-tasks.ts', import.meta.url)))};
const chunks = [];
await serveTasks(async () => async (task) => {
  while (task === 'grow') {
    chunks.push(Buffer.alloc(8 * 1024 * 1024, 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return task + ' by ' + process.pid;
}, { maxResidentBytes: 400 * 1024 * 1024 });
`;

/** Returns its priorities while it starts and during the task. */
const POLITE = `
import { getPriority } from 'node:os';
import { serveTasks } from ${JSON.stringify(fileURLToPath(new URL('./serve-tasks.ts', import.meta.url)))};
await serveTasks(async () => {
  const first = getPriority();
  return async () => first + ', then ' + getPriority();
});
`;

const warn = vi.fn();
let folder: string;
let tasks: TaskProcess<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-tasks-'));
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  await writeFile(join(folder, 'broken.mjs'), 'process.exit(1)');
  await writeFile(join(folder, 'glutton.ts'), GLUTTON);
  await writeFile(join(folder, 'polite.ts'), POLITE);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
});

afterAll(() => rm(folder, { recursive: true }));

afterEach(() => {
  vi.useRealTimers();
  return tasks.close();
});

function start(options: Partial<TaskProcessOptions<string>> = {}): void {
  warn.mockClear();
  tasks = createTaskProcess({
    name: 'test',
    log: { warn },
    file: join(folder, 'program.mjs'),
    describe: (task) => ({ task }),
    ...options,
  });
}

const run = (task: string) => tasks.run(task);
const pidOf = (result: string) => Number(result.split(' ').at(-1));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('the process starts at the priority of its parent, even on a busy machine, and runs tasks at a lower one', async () => {
  start({ file: join(folder, 'polite.ts') });
  const priority = getPriority();
  const lower = Math.max(priority, constants.priority.PRIORITY_BELOW_NORMAL);
  expect(await tasks.run('report')).toBe(`${priority}, then ${lower}`);
});

test('one process runs every task', async () => {
  start();
  const results = await Promise.all(['a', 'b', 'c'].map(run));
  expect(results.map((each) => each[0])).toEqual(['a', 'b', 'c']);
  expect(new Set(results.map(pidOf)).size).toBe(1);
});

test.each([
  ['crashes', 'crash'],
  ['hangs', 'hang'],
])('a process that %s is replaced: its task fails and the next ones run', async (_what, name) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  start({ timeoutMs: 3_000 });
  const first = pidOf(await run('a'));
  const outcomes = Promise.allSettled([run(name), run('b')]);
  if (name === 'hang') vi.advanceTimersByTime(3_000);
  const [lost, next] = await outcomes;
  expect(lost).toMatchObject({ status: 'rejected', reason: { kind: 'failed' } });
  expect(next.status).toBe('fulfilled');
  expect(warn).toHaveBeenCalledWith({ worker: 'test', task: name }, expect.any(String));
  await expect.poll(() => isRunning(first)).toBe(false);
});

test('the process survives a failed task', async () => {
  start();
  const before = pidOf(await run('a'));
  await expect(run('refuse')).rejects.toMatchObject({ kind: 'failed' });
  expect(pidOf(await run('b'))).toBe(before);
});

test('a process that has grown too large is replaced', async () => {
  start({ maxResidentBytes: 1_000 });
  const large = pidOf(await run('grow'));
  expect(pidOf(await run('a'))).not.toBe(large);
  await expect.poll(() => isRunning(large)).toBe(false);
});

test('an idle process exits, and the next task starts another', async () => {
  start({ idleMs: 10 });
  const first = pidOf(await run('a'));
  await expect.poll(() => isRunning(first)).toBe(false);
  expect(pidOf(await run('b'))).not.toBe(first);
});

test('if the process does not start, every waiting task fails, and the process is not restarted at once', async () => {
  start({ file: join(folder, 'broken.mjs') });
  const failures = await Promise.allSettled([run('a'), run('b')]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(run('c')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(warn).toHaveBeenCalledTimes(1);
});

test('closing kills a hanging process and rejects the waiting tasks', async () => {
  start();
  const pid = pidOf(await run('a'));
  const outcomes = Promise.allSettled([run('hang'), run('b')]);
  await tasks.close();
  expect(isRunning(pid)).toBe(false);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { kind: 'closed' } });
  await expect(run('c')).rejects.toMatchObject({ kind: 'closed' });
});

test('a process that exceeds its memory limit during a task is killed, and the next task starts another', async () => {
  start({ file: join(folder, 'glutton.ts') });
  const [grown, next] = await Promise.allSettled([run('grow'), run('a')]);
  expect(grown).toMatchObject({ status: 'rejected', reason: { kind: 'failed' } });
  expect(next.status).toBe('fulfilled');
});
