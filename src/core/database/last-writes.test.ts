import { expect, test } from 'vitest';
import { isCurrentEnough } from './replica-watch.ts';
import { LastWrites, RETENTION_MS } from './replicas.ts';

const change = (...productIds: string[]) => ({ productIds, catalogue: false });

test('the scope of a read determines the last write that the read must show', () => {
  const writes = new LastWrites();
  writes.add(change('tide'), 10);
  writes.add(change('ebb'), 20);
  writes.addSession('of-ann', 30);
  expect(writes.since({ productIds: ['tide'] })).toBe(10);
  expect(writes.since({ productIds: ['tide', 'ebb'] })).toBe(20);
  expect(writes.since({ productIds: ['surge'] })).toBe(Number.NEGATIVE_INFINITY);
  expect(writes.since({ session: 'of-ann' })).toBe(30);
  expect(writes.since({ productIds: ['tide'], session: 'of-ben' })).toBe(10);
  expect(writes.since({})).toBe(30);
});

test('a change to the catalogue, or an unknown change, counts for every read', () => {
  const writes = new LastWrites();
  writes.add({ productIds: ['tide'], catalogue: true }, 10);
  expect(writes.since({ productIds: ['surge'] })).toBe(10);
  writes.addEverything(20);
  expect(writes.since({ session: 'of-ann' })).toBe(20);
});

test('while the primary is unreachable, a replica that lacks an old write is not read', () => {
  const writes = new LastWrites();
  writes.add(change('tide'), 30_000);
  writes.addSession('of-ann', 31_000);
  writes.evictOld(45_000);
  const canRead = (verifiedAt: number, scope: Parameters<LastWrites['since']>[0]) =>
    isCurrentEnough({ kind: 'lagging', verifiedAt, isPrimaryUnreachable: true }, writes.since(scope), 60_000);
  for (const scope of [{ productIds: ['tide'] }, { session: 'of-ann' }]) {
    expect([canRead(29_000, scope), canRead(31_001, scope)]).toEqual([false, true]);
  }
});

test('old or excess entries are merged into one time, which applies to every product', () => {
  const writes = new LastWrites();
  writes.add(change('tide'), 10);
  writes.add(change('ebb'), 20);
  writes.evictOld(10 + RETENTION_MS);
  for (const id of ['tide', 'surge']) expect(writes.since({ productIds: [id] })).toBe(10);
  expect(writes.since({ productIds: ['ebb'] })).toBe(20);
  for (let number = 0; number <= 20_000; number += 1) writes.add(change(`p-${number}`), 30);
  expect(writes.since({ productIds: ['surge'] })).toBe(30);
});
