import { expect, test } from 'vitest';
import { REMEMBERED_MS, WriteMoments } from './write-moments.ts';

const change = (...productIds: string[]) => ({ productIds, catalogue: false });

test('a read must show the last write to what it is of, and nothing more', () => {
  const writes = new WriteMoments();
  writes.add(change('tide'), 10);
  writes.add(change('ebb'), 20);
  writes.addSession('of-ann', 30);
  expect(writes.since({ productIds: ['tide'] })).toBe(10);
  expect(writes.since({ productIds: ['tide', 'ebb'] })).toBe(20);
  expect(writes.since({ productIds: ['surge'] })).toBe(0);
  expect(writes.since({ session: 'of-ann' })).toBe(30);
  expect(writes.since({ productIds: ['tide'], session: 'of-ben' })).toBe(10);
  expect(writes.since({})).toBe(30);
});

test('a change of the catalogue, and one that nobody can name, is one of everything', () => {
  const writes = new WriteMoments();
  writes.add({ productIds: ['tide'], catalogue: true }, 10);
  expect(writes.since({ productIds: ['surge'] })).toBe(10);
  writes.addEverything(20);
  expect(writes.since({ session: 'of-ann' })).toBe(20);
});

test('what is old is forgotten, and too much becomes one moment for all', () => {
  const writes = new WriteMoments();
  writes.add(change('tide'), 10);
  writes.add(change('ebb'), 20);
  writes.forget(10 + REMEMBERED_MS);
  expect(writes.since({ productIds: ['tide'] })).toBe(0);
  expect(writes.since({ productIds: ['ebb'] })).toBe(20);
  for (let number = 0; number <= 20_000; number += 1) writes.add(change(`p-${number}`), 30);
  expect(writes.since({ productIds: ['surge'] })).toBe(30);
});
