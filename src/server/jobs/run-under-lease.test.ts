import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import type { Database } from '../../core/database/database.ts';
import { runUnderLease } from './run-under-lease.ts';

function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

test('a lease is released only after the renewal in progress, which would otherwise extend it', async () => {
  const database = await createTestDatabase();
  const [renewal, held, released] = [gate(), gate(), gate()];
  const slow: Database = {
    ...database,
    async query(text, values, options) {
      const isRenewal = text.startsWith('UPDATE leases') && text.includes('RETURNING');
      if (isRenewal) {
        renewal.open();
        await held.passed;
      }
      const rows = await database.query(text, values, options);
      if (text.startsWith('UPDATE leases') && !isRenewal) released.open();
      return rows as never;
    },
  };
  const job = {
    lease: 'scheduled backup',
    intervalMs: 3_600_000,
    run: () => renewal.passed,
    messages: { checkFailed: '', failed: '', notRenewed: '' },
  } as const;
  const worker = runUnderLease(slow, job, silentLog, { pollMs: 10, leaseMs: 60, retryMs: 10 });
  try {
    await renewal.passed;
    // Without waiting for the renewal, the release would be sent in this turn.
    await nextTurn();
    held.open();
    await released.passed;
    await worker.close();
    expect(await database.query('SELECT FROM leases WHERE expires_at > clock_timestamp()')).toEqual([]);
  } finally {
    await worker.close();
    await database.drop();
  }
});

test('a completed run does not count as failed if its lease cannot be released', async () => {
  const database = await createTestDatabase();
  const unreachable = new Error('The database is unreachable');
  const failing: Database = {
    ...database,
    query: (text, ...rest) =>
      text.startsWith('UPDATE leases') ? Promise.reject(unreachable) : database.query(text, ...rest),
  };
  const warn = vi.fn();
  const job = {
    lease: 'scheduled backup',
    run: () => Promise.resolve(),
    messages: { checkFailed: 'Cannot release the lease', failed: '', notRenewed: '' },
  } as const;
  const times = { pollMs: 10, leaseMs: 60_000, retryMs: 10 };
  const worker = runUnderLease(failing, job, { ...silentLog, warn }, times);
  try {
    await expect.poll(() => warn.mock.calls).toEqual([[{ err: unreachable }, 'Cannot release the lease']]);
    expect(worker.failures()).toBe(0);
  } finally {
    await worker.close();
    await database.drop();
  }
});
