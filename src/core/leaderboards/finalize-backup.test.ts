import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { CAP, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, MIGRATIONS } from '../../../tests/support/test-database.ts';
import { startTestSite } from '../../../tests/support/test-site.ts';
import { restoreBackup } from '../backups/restore-backup.ts';
import { writeBackup } from '../backups/write-backup.ts';
import type { Database } from '../database/database.ts';
import { readMigrations } from '../database/migrate.ts';
import { HOUR_MS, systemRuntime } from '../runtime.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { readTally } from './read-tally.ts';

const DAY = '2026-06-01';
const DUE = '2026-06-04T00:00:00.000Z';

const finalize = (on: Database) => finalizeDue(on, { rules: rulesAt(DUE), votesPerNetwork: CAP });
const boardOf = (on: Database) => getLeaderboard(on, DAY, {}, rulesAt(DUE));

async function seed(database: Database): Promise<void> {
  for (const id of ['tide', 'reef']) await launch(database, id, `${DAY}T10:00:00.000Z`);
  for (const [minute, session] of ['session-a', 'session-b', 'session-c'].entries())
    await vote(database, 'tide', `${DAY}T11:0${minute}:00.000Z`, session);
  await vote(database, 'reef', `${DAY}T12:00:00.000Z`, 'session-a');
  // The vote of session-c counts, because it was withdrawn after the window. The vote of session-late does not, because
  // it was cast after the window.
  await vote(database, 'tide', '2026-06-02T12:00:00.000Z', 'session-c', { upvoted: false });
  await vote(database, 'tide', '2026-06-02T12:00:00.000Z', 'session-late');
}

test('a backup taken while a day is finalized restores a provisional day, which becomes final with the same result', async () => {
  const database = await createTestDatabase();
  await seed(database);
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-finalizing-'));
  const [during, after] = ['during', 'after'].map((name) => join(folder, `${name}.backup`)) as [string, string];
  const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  const restored = await createTestDatabase();
  const restore = (path: string) => restoreBackup(restored, path, { replace: true, migrations, target: 'site.backup' });
  const votesOf = async (on: Database) =>
    (await tallyOf(on, DAY, DUE))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => ({ ...JSON.parse(line), voter: '' }));
  const byTime = (votes: { product: string; at: string }[]) =>
    votes.sort((one, other) => (`${one.product}${one.at}` < `${other.product}${other.at}` ? -1 : 1));
  try {
    // At this point, the tally is written and the counts are changed, but nothing is committed.
    const interrupted = interruptTransactions(database, 'UPDATE leaderboards SET digest', () =>
      writeBackup(database, during, { groundswell: '1' }),
    );
    await finalize(interrupted);
    await writeBackup(database, after, { groundswell: '1' });
    const final = await boardOf(database);

    await restore(during);
    expect(await boardOf(restored)).toMatchObject({ status: 'provisional', digest: null, items: final?.items });
    expect(await restored.query('SELECT FROM tally_parts')).toEqual([]);
    await finalize(restored);
    expect(await boardOf(restored)).toMatchObject({ status: 'final', items: final?.items });
    // Backups do not contain the secret, so voters have other hashes on the restored site.
    expect(byTime(await votesOf(restored))).toEqual(byTime(await votesOf(database)));
    expect((await boardOf(restored))?.digest).not.toBe(final?.digest);

    await restore(after);
    expect(await boardOf(restored)).toEqual(final);
    expect(await tallyOf(restored, DAY, DUE)).toBe(await tallyOf(database, DAY, DUE));
  } finally {
    await Promise.all([database.drop(), restored.drop()]);
    await rm(folder, { recursive: true, force: true });
  }
});

test('after a restore, different open tallies have different versions, even with the same number of changes', async () => {
  const database = await createTestDatabase();
  const other = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-versions-'));
  const backup = join(folder, 'site.backup');
  const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  const restore = (on: Database) => restoreBackup(on, backup, { replace: true, migrations, target: 'site.backup' });
  const versionOf = async (on: Database) => {
    let found = '';
    const options = { rules: rulesAt(`${DAY}T13:00:00.000Z`), runtime: systemRuntime };
    await readTally(on, DAY, options, async ({ version }) => {
      found = version;
    });
    return found;
  };
  try {
    await seed(database);
    await writeBackup(database, backup, { groundswell: '1' });
    await vote(database, 'reef', `${DAY}T12:30:00.000Z`, 'session-d');
    const before = await versionOf(database);
    expect(await versionOf(database)).toBe(before);
    await restore(database);
    await vote(database, 'reef', `${DAY}T12:30:00.000Z`, 'session-e');
    await restore(other);
    await vote(other, 'reef', `${DAY}T12:30:00.000Z`, 'session-d');
    expect(new Set([before, await versionOf(database), await versionOf(other)]).size).toBe(3);
  } finally {
    await Promise.all([database.drop(), other.drop()]);
    await rm(folder, { recursive: true, force: true });
  }
});

test('a running site applies its cap to the votes of a restored backup that another cap had excluded', async () => {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-cap-'));
  const backup = join(folder, 'site.backup');
  const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  await launch(database, 'tide', hoursAgo(2));
  const network = '00000000-0000-0000-0000-00000000000a';
  for (const session of ['session-a', 'session-b', 'session-c'])
    await vote(database, 'tide', hoursAgo(1), session, { network });
  const counts = () => database.query('SELECT counted, excluded_network AS excluded FROM product_counts');
  expect(await counts()).toEqual([{ counted: CAP, excluded: 1 }]);
  await writeBackup(database, backup, { groundswell: '1' });
  const site = await startTestSite({ databaseOf: { database } });
  try {
    await expect.poll(counts).toEqual([{ counted: 3, excluded: 0 }]);
    await restoreBackup(database, backup, { replace: true, migrations, target: 'site.backup' });
    await expect.poll(counts).toEqual([{ counted: 3, excluded: 0 }]);
    await expect
      .poll(async () => (await site.core.getStandings('tide'))?.day)
      .toMatchObject({ votes: 3, excluded: [] });
  } finally {
    await site.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
