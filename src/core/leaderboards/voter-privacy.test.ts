import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, joinTestDatabase, MIGRATIONS } from '../../../tests/support/test-database.ts';
import { EXCLUDED_TABLES, SITE_TABLES } from '../backups/site-tables.ts';
import { EMBEDDED_NAME } from '../database/connect.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { openEmbedded } from '../database/embedded/open-embedded.ts';
import { migrate } from '../database/migrate.ts';
import { holdSnapshot } from '../database/transactions.ts';
import { systemRuntime } from '../runtime.ts';
import { finalizeDue } from './finalize.ts';
import { voterOf } from './tally-file.ts';
import { findSecret, readSecret } from './vote-networks.ts';

const DAYS = ['2026-06-01', '2026-06-02'] as const;
const DUE = '2026-06-06T00:00:00.000Z';
const SESSION = 'session-of-a-careful-voter';

/** The data folder of a separate server, so its files can be searched while the server is stopped. */
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'groundswell-privacy-'));
  await chmod(dataDir, 0o711);
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Runs `work` with a running server, then stops the server cleanly, which writes everything to the files. */
async function withServer(work: (database: Database) => Promise<void>): Promise<void> {
  const server = await openEmbedded({ name: EMBEDDED_NAME, dataDir, mode: 'own', log: silentLog });
  const database = openDatabase({ url: server.url, log: silentLog });
  try {
    await work(database);
  } finally {
    await database.close();
    await server.stop();
  }
}

/**
 * Returns the files of the stopped database that contain these bytes, except for the write-ahead log, which is
 * overwritten in time.
 */
async function filesWith(bytes: Buffer): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const searched = paths.filter((path) => !path.includes('pg_wal'));
  const found = await Promise.all(searched.map(async (path) => ((await readFile(path)).includes(bytes) ? [path] : [])));
  return found.flat();
}

test('a voter has a different hash each day, and once a day is final, its secret is in no file of the database but the write-ahead log', async () => {
  const secrets = new Map<string, Buffer>();
  await withServer(async (database) => {
    await migrate(database, MIGRATIONS, silentLog);
    for (const day of DAYS) {
      await launch(database, `tide-${day}`, `${day}T10:00:00.000Z`);
      const secret = await readSecret(database, day, systemRuntime);
      if (secret !== undefined) secrets.set(day, secret);
      await vote(database, `tide-${day}`, `${day}T11:00:00.000Z`, SESSION);
    }
    // Creates column statistics, which could contain copies of the secrets.
    await database.query('ANALYZE');
  });
  expect(new Set([...secrets.values()].map((secret) => voterOf(secret, SESSION))).size).toBe(DAYS.length);
  for (const secret of secrets.values()) expect(await filesWith(secret), 'the search finds the secret').toHaveLength(1);

  await withServer(async (database) => {
    await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
    for (const [day, secret] of secrets) {
      const tally = await tallyOf(database, day, DUE);
      expect(tally).toContain(`"voter":"${voterOf(secret, SESSION)}"`);
      expect(tally).not.toContain(SESSION);
    }
  });
  for (const [day, secret] of secrets) expect(await filesWith(secret), `the secret of ${day}`).toEqual([]);
});

/** Opens two connections to a site with a launch whose day is due. */
async function startDueSite() {
  const database = await createTestDatabase();
  const other = joinTestDatabase(database);
  onTestFinished(async () => {
    await other.drop();
    await database.drop();
  });
  await launch(database, 'tide', `${DAYS[0]}T10:00:00.000Z`);
  await readSecret(database, DAYS[0], systemRuntime);
  const finalize = () => finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
  return { database, other, finalize };
}

test('while a session such as pg_dump has locked the secrets, finalizing does not wait, so votes do not wait for it', async () => {
  const { database, other, finalize } = await startDueSite();
  const open = '2026-06-06';
  const secret = await readSecret(database, open, { ...systemRuntime, now: () => new Date(DUE) });
  const marker = () => database.query("SELECT FROM site_metadata WHERE name = 'tally secrets deleted'");
  await other.transaction(async (sql) => {
    await sql.query('SELECT FROM tally_secrets');
    expect((await finalize()).days).toEqual([DAYS[0]]);
    expect(await findSecret(database, open)).toEqual(secret);
    expect(await marker()).toHaveLength(1);
  });
  await finalize();
  expect(await marker()).toEqual([]);
  expect(await database.query('SELECT day, secret FROM tally_secrets')).toEqual([{ day: open, secret }]);
});

test('a deleted secret leaves the file of its table even while an older snapshot, such as that of a backup, can see it', async () => {
  const { database, other, finalize } = await startDueSite();
  await other.transaction(async (sql) => {
    await holdSnapshot(sql);
    await sql.query('SELECT FROM products');
    await finalize();
    const size = await database.query("SELECT pg_relation_size('tally_secrets')::integer AS bytes");
    expect(size).toEqual([{ bytes: 0 }]);
  });
});

test('backups do not contain the secrets of tallies', () => {
  expect(SITE_TABLES).not.toContain('tally_secrets');
  expect(EXCLUDED_TABLES).toContain('tally_secrets');
});
