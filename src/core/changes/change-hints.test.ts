import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Listener } from '../database/listen.ts';
import { type ChangeHints, exchangeHints } from './change-hints.ts';

let database: TestDatabase;
let opened: ChangeHints[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const hints of opened) await hints.stop();
  opened = [];
  await database.drop();
});

function open(onHint: () => void): ChangeHints {
  const hints = exchangeHints(database, silentLog, onHint);
  opened.push(hints);
  return hints;
}

const LISTENERS = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`;

test('a hint reaches the others and not its sender, also after the connections were lost', async () => {
  const onOwn = vi.fn();
  const onHint = vi.fn();
  const giver = open(onOwn);
  open(onHint);
  const given = async () => {
    giver.give();
    return onHint.mock.calls.length;
  };
  await expect.poll(given, { timeout: 5_000 }).toBeGreaterThan(0);
  const lost = await database.query<{ pid: number }>(LISTENERS);
  expect(lost).toHaveLength(2);
  await database.query(`SELECT pg_terminate_backend(pid) FROM (${LISTENERS}) AS listeners`);
  const newOnes = async () => {
    const all = await database.query<{ pid: number }>(LISTENERS);
    return all.filter(({ pid }) => !lost.some((old) => old.pid === pid)).length;
  };
  await expect.poll(newOnes, { timeout: 10_000 }).toBe(2);
  onOwn.mockClear();
  onHint.mockClear();
  await expect.poll(given, { timeout: 5_000 }).toBeGreaterThan(0);
  // Only what they say to find out whether they hear each other.
  expect(onOwn.mock.calls.length).toBeLessThanOrEqual(1);
});

describe('without notices', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test('a connection that never hears anything is given up, and nothing is sent any more', async () => {
    let listener: Listener | undefined;
    const pause = vi.fn();
    const query = vi.fn(async () => []);
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const deaf = {
      ...database,
      query,
      listen(_channel: string, given: Listener) {
        listener = given;
        return { pause, stop: async () => {} };
      },
    };
    const hints = exchangeHints(deaf, log, () => {});
    listener?.onListening();
    expect(query).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(pause).toHaveBeenCalledTimes(1);
    hints.give();
    expect(query).toHaveBeenCalledTimes(1);
    expect(log.warn).not.toHaveBeenCalled();
  });
});
