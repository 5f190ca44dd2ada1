import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
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
