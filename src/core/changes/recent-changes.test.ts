import { describe, expect, test } from 'vitest';
import { RecentChanges } from './site-changes.ts';

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

function begun(): RecentChanges {
  const recent = new RecentChanges();
  recent.begin([], START);
  return recent;
}

const counts = (...productIds: string[]) => ({ productIds, catalogue: false });

test('changes are unknown before the first read', () => {
  expect(new RecentChanges().since(START)).toBeUndefined();
});

describe('the changes since a time', () => {
  test('the changes since a time include those of the five seconds before it', () => {
    const recent = begun();
    recent.add(counts('early'), START + MINUTE);
    recent.add({ ...counts('late'), commentIds: ['c1'] }, START + 2 * MINUTE);
    expect(recent.since(START + 2 * MINUTE + 4_000)?.productIds).toEqual(['late']);
    expect(recent.since(START + 2 * MINUTE + 6_000)).toEqual({ productIds: [], catalogue: false });
    expect(recent.since(START + MINUTE)?.productIds).toEqual(['early', 'late']);
    expect(recent.since(START + MINUTE, ['late', 'never'])).toMatchObject({ productIds: ['late'] });
    expect(recent.commentsSince(START + 2 * MINUTE + 4_000).commentIds).toEqual(['c1']);
    expect(recent.commentsSince(START + 2 * MINUTE + 6_000).commentIds).toEqual([]);
  });

  test('the changes since a time contain a product once, at its last change', () => {
    const recent = begun();
    recent.add(counts('a'), START + MINUTE);
    recent.add(counts('b'), START + 2 * MINUTE);
    recent.add({ productIds: ['a'], catalogue: true }, START + 3 * MINUTE);
    expect(recent.since(START + 3 * MINUTE)).toMatchObject({ productIds: ['a'], catalogue: true });
    expect(recent.since(START + MINUTE)?.productIds).toEqual(['b', 'a']);
  });

  test('the changes since a time include the records that the table contained when the process started', () => {
    const recent = new RecentChanges();
    const record = { id: 'n', ...counts('recorded'), createdAt: START - 5 * MINUTE };
    recent.begin([record], START);
    expect(recent.since(START - 6 * MINUTE)?.productIds).toEqual(['recorded']);
    expect(recent.since(START - 11 * MINUTE)).toBeUndefined();
  });

  test('the changes since a time are unknown if one of them was too large to list', () => {
    const recent = begun();
    recent.add(counts('a'), START + MINUTE);
    recent.evictUpTo(START + 2 * MINUTE);
    expect(recent.since(START + 2 * MINUTE)).toBeUndefined();
    recent.add(counts('b'), START + 3 * MINUTE);
    expect(recent.since(START + 3 * MINUTE)?.productIds).toEqual(['b']);
  });
});

test('if many comments changed, only the latest are listed, with the time since which the list is complete', () => {
  const recent = begun();
  for (let second = 0; second < 2_000; second += 1) {
    recent.add({ ...counts('p'), commentIds: [`c-${second}`] }, START + second * 1_000);
  }
  const { commentIds, completeSince } = recent.commentsSince(START);
  expect([commentIds.length, commentIds[0], commentIds.at(-1)]).toEqual([1_000, 'c-1999', 'c-1000']);
  expect(recent.commentsSince(completeSince)).toEqual({ commentIds, completeSince });
  expect(recent.commentsSince(completeSince - 1_000).completeSince).toBe(completeSince);
});

describe('the memory for changes is bounded', () => {
  test('if too many products changed, the oldest changes are evicted and become unknown', () => {
    const recent = begun();
    for (let index = 0; index <= 10_000; index += 1) recent.add(counts(`p-${index}`), START + MINUTE + index);
    expect(recent.since(START + MINUTE)).toBeUndefined();
    expect(recent.since(START + MINUTE + 15_001)?.productIds).toEqual([]);
    expect(recent.since(START + MINUTE + 5_001)?.productIds).toHaveLength(9_999);
  });

  test('if too many comments changed, the oldest changes are evicted and become unknown', () => {
    const recent = begun();
    for (let index = 0; index < 20_000; index += 1) {
      recent.add({ ...counts('p'), commentIds: [`c-${index}`] }, START + MINUTE + index);
    }
    expect(recent.since(START + MINUTE)).toBeUndefined();
    expect(recent.since(START + MINUTE + 15_000)).toBeDefined();
  });
});
