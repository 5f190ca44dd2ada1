import { expect, test } from 'vitest';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

const LIMITS = { maxSlots: 5, maxSlotsPerSender: 3 };

/** Enters the queue and runs work that ends when the test calls `finish`. */
function start(queue: FairQueue, sender: string, name: string, log: string[], signal?: AbortSignal) {
  const slot = queue.enter(sender);
  if (slot === undefined) throw new Error('No slot is free');
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = slot.run(() => {
    log.push(name);
    return ended;
  }, signal);
  const finish = () => {
    end();
    return done;
  };
  return { done, finish };
}

test('one task runs at a time, and senders take turns', async () => {
  const queue = createFairQueue(LIMITS);
  const log: string[] = [];
  const works = [
    start(queue, 'a', 'a1', log),
    start(queue, 'a', 'a2', log),
    start(queue, 'a', 'a3', log),
    start(queue, 'b', 'b1', log),
    start(queue, 'c', 'c1', log),
  ];
  await expect.poll(() => log).toEqual(['a1']);
  await Promise.all(works.map(({ finish }) => finish()));
  expect(log).toEqual(['a1', 'a2', 'b1', 'c1', 'a3']);
});

test('the number of slots is limited per sender and in total, and released slots can be reused', () => {
  const queue = createFairQueue(LIMITS);
  const slots = ['a', 'a', 'a'].map((sender) => queue.enter(sender));
  expect(queue.enter('a')).toBeUndefined();
  expect(queue.enter('b')).toBeDefined();
  expect(queue.enter('c')).toBeDefined();
  expect(queue.enter('d')).toBeUndefined();
  slots[0]?.release();
  slots[0]?.release();
  expect(queue.enter('a')).toBeDefined();
  expect(queue.enter('d')).toBeUndefined();
});

test('after a failed task, the next one runs', async () => {
  const queue = createFairQueue(LIMITS);
  const failing = queue.enter('a')?.run(() => Promise.reject(new Error('no')));
  const next = queue.enter('a')?.run(async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});

test('a task whose sender disconnects before its turn does not run', async () => {
  const queue = createFairQueue(LIMITS);
  const log: string[] = [];
  const gone = new AbortController();
  const first = start(queue, 'a', 'a1', log);
  const abandoned = start(queue, 'b', 'b1', log, gone.signal);
  const last = start(queue, 'c', 'c1', log);
  gone.abort(new Error('gone'));
  await expect(abandoned.done).rejects.toThrow('gone');
  await Promise.all([first.finish(), last.finish()]);
  expect(log).toEqual(['a1', 'c1']);
  const late = queue.enter('b');
  await expect(late?.run(async () => log.push('late'), gone.signal)).rejects.toThrow('gone');
  await start(queue, 'a', 'a2', log).finish();
  expect(log).toEqual(['a1', 'c1', 'a2']);
});

test('if no slot is free, another sender gets a slot whose work was not submitted in time', () => {
  let nowMs = 0;
  const queue = createFairQueue({ maxSlots: 3, maxSlotsPerSender: 2, protectedMs: 10_000 }, () => nowMs);
  const lost: string[] = [];
  const enter = (sender: string, name: string) => queue.enter(sender, () => lost.push(name));
  const first = enter('a', 'a1');
  nowMs = 5_000;
  enter('a', 'a2');
  enter('b', 'b1');
  nowMs = 9_999;
  expect(enter('c', 'c1')).toBeUndefined();
  nowMs = 10_000;
  // The limit per sender still applies.
  expect(enter('a', 'a3')).toBeUndefined();
  expect(enter('c', 'c1')).toBeDefined();
  expect(lost).toEqual(['a1']);
  first?.release();
  expect(enter('c', 'c2')).toBeUndefined();
  nowMs = 15_000;
  expect(enter('c', 'c2')).toBeDefined();
  expect(lost).toEqual(['a1', 'a2']);
});

test('a slot whose work is waiting or running is never given to another sender', async () => {
  let nowMs = 0;
  const queue = createFairQueue({ maxSlots: 2, maxSlotsPerSender: 2, protectedMs: 10 }, () => nowMs);
  const log: string[] = [];
  const works = [start(queue, 'a', 'a1', log), start(queue, 'b', 'b1', log)];
  nowMs = 100;
  expect(queue.enter('c')).toBeUndefined();
  await Promise.all(works.map(({ finish }) => finish()));
  expect(log).toEqual(['a1', 'b1']);
});
