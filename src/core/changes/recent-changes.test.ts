import { describe, expect, test } from 'vitest';
import { RecentChanges } from './recent-changes.ts';

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

function begun(): RecentChanges {
  const recent = new RecentChanges();
  recent.begin([], START);
  return recent;
}

const counts = (...productIds: string[]) => ({ productIds, catalogue: false });

test('nothing is known before the first reading', () => {
  expect(new RecentChanges().since(START)).toBeUndefined();
});

describe('what changed since a moment', () => {
  test('is what changed later, or within the few seconds before in which another process may not have heard of it', () => {
    const recent = begun();
    recent.add(counts('early'), START + MINUTE);
    recent.add({ ...counts('late'), commentIds: ['c1'] }, START + 2 * MINUTE);
    expect(recent.since(START + 2 * MINUTE + 4_000)?.productIds).toEqual(['late']);
    expect(recent.since(START + 2 * MINUTE + 6_000)).toEqual({ productIds: [], commentIds: [], catalogue: false });
    expect(recent.since(START + MINUTE)?.productIds).toEqual(['early', 'late']);
    expect(recent.since(START + MINUTE, ['late', 'never'])).toMatchObject({ productIds: ['late'], commentIds: ['c1'] });
  });

  test('counts a product once, at its last change', () => {
    const recent = begun();
    recent.add(counts('a'), START + MINUTE);
    recent.add(counts('b'), START + 2 * MINUTE);
    recent.add({ productIds: ['a'], catalogue: true }, START + 3 * MINUTE);
    expect(recent.since(START + 3 * MINUTE)).toMatchObject({ productIds: ['a'], catalogue: true });
    expect(recent.since(START + MINUTE)?.productIds).toEqual(['b', 'a']);
  });

  test('is taken over from the table, as far as that goes back', () => {
    const recent = new RecentChanges();
    const note = { id: 'n', ...counts('noted'), notedAt: START - 5 * MINUTE };
    recent.begin([note], START);
    expect(recent.since(START - 6 * MINUTE)?.productIds).toEqual(['noted']);
    expect(recent.since(START - 11 * MINUTE)).toBeUndefined();
  });

  test('is unknown up to a change too large to be named', () => {
    const recent = begun();
    recent.add(counts('a'), START + MINUTE);
    recent.forget(START + 2 * MINUTE);
    expect(recent.since(START + 2 * MINUTE)).toBeUndefined();
    recent.add(counts('b'), START + 3 * MINUTE);
    expect(recent.since(START + 3 * MINUTE)?.productIds).toEqual(['b']);
  });
});

describe('memory is bounded, and what was forgotten is known to be', () => {
  test('products', () => {
    const recent = begun();
    for (let index = 0; index <= 10_000; index += 1) recent.add(counts(`p-${index}`), START + MINUTE + index);
    expect(recent.since(START + MINUTE)).toBeUndefined();
    expect(recent.since(START + MINUTE + 15_001)?.productIds).toEqual([]);
    expect(recent.since(START + MINUTE + 5_001)?.productIds).toHaveLength(9_999);
  });

  test('comments', () => {
    const recent = begun();
    for (let index = 0; index < 20_000; index += 1) {
      recent.add({ ...counts('p'), commentIds: [`c-${index}`] }, START + MINUTE + index);
    }
    expect(recent.since(START + MINUTE)).toBeUndefined();
    expect(recent.since(START + MINUTE + 15_000)?.commentIds).toHaveLength(9_999);
  });
});
