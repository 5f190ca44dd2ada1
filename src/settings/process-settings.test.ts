import { describe, expect, test } from 'vitest';
import { maxConnectionsNeeded, poolSizePerProcess } from './process-settings.ts';

describe('the pools of all processes', () => {
  test("up to 28 processes leave nine of PostgreSQL's default connections to the operator's commands", () => {
    for (let processes = 1; processes <= 28; processes += 1) {
      expect(maxConnectionsNeeded(processes)).toBeLessThanOrEqual(97 - 9);
    }
    expect([1, 2, 7, 8, 16, 28].map((processes) => poolSizePerProcess(processes))).toEqual([10, 10, 10, 9, 4, 2]);
  });

  test('each pool has fewer connections if the database allows fewer, but at least two', () => {
    expect([100, 21, 20, 12, 5].map((limit) => poolSizePerProcess(1, limit))).toEqual([10, 10, 9, 2, 2]);
    expect(poolSizePerProcess(4, 60)).toBe(10);
    expect(poolSizePerProcess(4, 37)).toBe(5);
    expect(maxConnectionsNeeded(4, 37)).toBe(28);
    expect(poolSizePerProcess(4, 5)).toBe(2);
    expect(poolSizePerProcess(64, 1_000)).toBe(2);
    expect(maxConnectionsNeeded(64, 1_000)).toBe(196);
  });
});
