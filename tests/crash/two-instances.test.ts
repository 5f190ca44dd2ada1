import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { addProducts, expectStored, startWriteRecorder, type WriteRecorder } from './write-recorder.ts';

const PRODUCTS = ['tide', 'ebb', 'surge'];
const LIKED = '00000000-0000-4000-8000-000000000002';

const harness = new CommandHarness();
let database: TestDatabase;
beforeAll(async () => {
  await installCommand();
  database = await createTestDatabase();
  await addProducts(database, PRODUCTS, LIKED);
});
afterEach(() => harness.clear());
afterAll(() => database.drop());

test('when one of two instances of the site is killed, the other serves without errors, and no acknowledged write is lost', async () => {
  const settings = { DATABASE_URL: database.url, RATE_LIMITS: 'off', LOG_LEVEL: 'error' };
  let sites: Awaited<ReturnType<CommandHarness['serve']>>[] = await Promise.all([
    harness.serve(settings),
    harness.serve(settings),
  ]);
  const recorders: WriteRecorder[] = [];
  try {
    for (const victim of [0, 1]) {
      const round = sites.map(({ address }) => startWriteRecorder(() => address, PRODUCTS, LIKED));
      recorders.push(...round);
      await Promise.all(round.map((recorder) => recorder.acknowledges(100)));
      const killed = sites[victim];
      killed?.process.kill('SIGKILL');
      if (killed) await once(killed.process, 'exit');
      // The visitors of the other instance get no errors.
      await round[1 - victim]?.acknowledges(100);
      await Promise.all(round.map((recorder) => recorder.stop()));
      const statuses = [...(round[1 - victim]?.acknowledged.statuses.keys() ?? [])];
      expect(statuses.toSorted()).toEqual([200, 201]);
      const next = await harness.serve(settings);
      sites = sites.map((site, index) => (index === victim ? next : site));
    }
  } finally {
    await Promise.all(recorders.map((recorder) => recorder.stop()));
  }
  await expectStored(database, recorders, { products: PRODUCTS.length, likedId: LIKED });
});
