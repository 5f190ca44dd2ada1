import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Connection, connect } from '../../src/core/database/connect.ts';
import { readPostmasterFile } from '../../src/core/database/embedded/postmaster.ts';
import { CommandHarness } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { silentLog } from '../support/silent-log.ts';
import { type Acknowledged, addProducts, expectStored, startWriteRecorder } from './write-recorder.ts';

/** `npm run test:crash` runs twenty rounds. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
const ROUND_DEADLINE_MS = 100_000;

const PRODUCTS = Array.from({ length: 10 }, (_, index) => `p-${index}`);
const LIKED = '00000000-0000-4000-8000-000000000001';
const SETTINGS = { LOG_LEVEL: 'error', SAMPLE_CATALOGUE: 'off', RATE_LIMITS: 'off' };

type Victim = 'site' | 'database' | 'site and database';
const VICTIMS: Victim[] = ['database', 'site', 'site and database'];

const harness = new CommandHarness();
beforeAll(installCommand);
afterEach(() => harness.clear());

describe('kill -9 under load', () => {
  test(
    `in ${ROUNDS} rounds, the site recovers, loses no acknowledged write, and its counts match the rows`,
    async () => {
      const dataDir = await harness.dataDir();
      let site = await harness.serve({ DATA_DIR: dataDir, ...SETTINGS });
      await withDatabase(dataDir, ({ database }) => addProducts(database, PRODUCTS, LIKED));
      const recorder = startWriteRecorder(() => site.address, PRODUCTS, LIKED);
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          const victim = VICTIMS[round % VICTIMS.length] ?? 'site';
          // Kills after a random number of writes.
          await recorder.acknowledges(200 + Math.floor(Math.random() * 200));
          recorder.acknowledged.statuses.clear();
          const killed = victim === 'site' ? undefined : await killPostmaster(dataDir);
          if (victim !== 'database') {
            site.process.kill('SIGKILL');
            await once(site.process, 'exit');
            site = await harness.serve({ DATA_DIR: dataDir, ...SETTINGS });
          }
          if (victim === 'database') await untilReplaced(dataDir, killed);
          // Waits until writes succeed again.
          await recorder.acknowledges(50);
          expectNoError(recorder.acknowledged, victim);
        }
      } finally {
        await recorder.stop();
      }
      const { upvotes, commentIds, likes } = recorder.acknowledged;
      expect(Math.min(upvotes.size, commentIds.size, likes)).toBeGreaterThan(ROUNDS * 10);
      await withDatabase(dataDir, ({ database }) =>
        expectStored(database, [recorder], { products: PRODUCTS.length, likedId: LIKED }),
      );
      site.process.kill('SIGTERM');
      expect(await site.exited).toMatchObject({ code: 0 });
    },
    ROUNDS * ROUND_DEADLINE_MS,
  );
});

/** Calls `work` with a separate connection to the site's database. */
async function withDatabase(dataDir: string, work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await connect({ dataDir, mode: 'share', log: silentLog });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

/** Kills the main process of the database. @returns its process id. */
async function killPostmaster(dataDir: string): Promise<number> {
  const { pid } = (await readPostmasterFile(join(dataDir, 'postgres'))) ?? {};
  if (pid === undefined) throw new Error('No database is running');
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** Waits until the site has restarted its database. */
async function untilReplaced(dataDir: string, killed: number | undefined): Promise<void> {
  const running = async () => {
    const file = await readPostmasterFile(join(dataDir, 'postgres'));
    return file?.status === 'ready' ? file.pid : killed;
  };
  await expect.poll(running, { interval: 10 }).not.toBe(killed);
}

/** Expects only successes, 503 while the database is unavailable and, if the site was killed, no response. */
function expectNoError({ statuses }: Acknowledged, victim: Victim): void {
  const expected = [200, 201, 503, ...(victim === 'database' ? [] : [0])];
  expect([...statuses.keys()].filter((status) => !expected.includes(status))).toEqual([]);
  // Writes continued without interruption, so some of them failed while the database was unavailable.
  if (victim === 'database') expect(statuses.get(503)).toBeGreaterThan(0);
}
