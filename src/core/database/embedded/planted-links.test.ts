import { execFileSync } from 'node:child_process';
import { chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  copyPackages,
  EmbeddedHarness,
  isRootRun,
  query,
  TEST_NAME,
} from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { type Account, removeFolder } from './account.ts';
import { type Binaries, binariesIn } from './binaries.ts';
import { thisHost } from './cluster-location.ts';
import { openEmbedded } from './open-embedded.ts';
import { pruneLogs } from './server-log.ts';

const DAEMON = { uid: 1, gid: 1 };
const daemon: Account = { kind: 'user', ...DAEMON };

const harness = new EmbeddedHarness();
let binaries: Binaries;
beforeAll(async () => {
  if (isRootRun) binaries = await binariesIn(await copyPackages(await harness.folder()));
});
afterAll(() => harness.clear());

const open = (dataDir: string) =>
  openEmbedded(
    { name: TEST_NAME, dataDir, mode: 'own', log: silentLog, durability: 'none' },
    { ...thisHost, binaries },
  );

/** Creates a data folder with a database, both owned by an unprivileged user. */
async function dataDirOfUser(): Promise<string> {
  const dataDir = await harness.createDataDir();
  execFileSync('chown', ['-R', `${DAEMON.uid}:${DAEMON.gid}`, dataDir]);
  return dataDir;
}

/** Creates a folder that root owns, with a file in it. */
async function folderOfRoot(): Promise<{ folder: string; file: string }> {
  const folder = join(await harness.folder(), 'root');
  const file = join(folder, 'file.log');
  await mkdir(folder);
  await writeFile(file, 'precious');
  return { folder, file };
}

async function expectUntouched({ folder, file }: { folder: string; file: string }): Promise<void> {
  expect(await readdir(folder)).toEqual(['file.log']);
  expect(await readFile(file, 'utf8')).toBe('precious');
  for (const path of [folder, file]) expect((await stat(path)).uid).toBe(0);
}

describe.runIf(isRootRun && process.platform === 'linux')(
  'links that the owner of the data folder plants for root',
  () => {
    it('a link planted as the socket folder changes neither owner nor content of its target', async () => {
      const dataDir = await dataDirOfUser();
      const victim = await folderOfRoot();
      await rm(join(dataDir, 'postgres.owner'), { recursive: true, force: true });
      await symlink(victim.folder, join(dataDir, 'postgres.owner'));
      await expect(open(dataDir)).rejects.toThrow(/postgres\.owner/);
      await expectUntouched(victim);
    });

    it("a link planted as PostgreSQL's first log is replaced by a file that the user owns, and the database starts", async () => {
      const dataDir = await dataDirOfUser();
      const victim = await folderOfRoot();
      const log = join(dataDir, 'postgres/start.log');
      await rm(log, { force: true });
      await symlink(victim.file, log);
      const database = await open(dataDir);
      expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await database.stop();
      expect(await lstat(log)).toMatchObject(DAEMON);
      await expectUntouched(victim);
    });

    it.each([`${TEST_NAME}.password`, 'PG_VERSION'])('a link planted as %s is not read as root', async (name) => {
      const dataDir = await dataDirOfUser();
      const secret = join(await harness.folder(), 'secret');
      await writeFile(secret, 'precious', { mode: 0o600 });
      await rm(join(dataDir, 'postgres', name));
      await symlink(secret, join(dataDir, 'postgres', name));
      await expect(open(dataDir)).rejects.toThrow(/EACCES/);
    });

    it('a link planted as the database folder is refused, and root still owns its target', async () => {
      const dataDir = join(await harness.folder(), 'data');
      const victim = await folderOfRoot();
      await mkdir(dataDir);
      await chown(dataDir, DAEMON.uid, DAEMON.gid);
      await symlink(victim.folder, join(dataDir, 'postgres'));
      await expect(open(dataDir)).rejects.toMatchObject({ code: 'data_dir_refused' });
      await expectUntouched(victim);
    });

    it('a link planted as the log folder does not cause files in its target to be deleted', async () => {
      const clusterDir = await harness.folder();
      const victim = await folderOfRoot();
      const names = Array.from({ length: 13 }, (_, day) => `2026-01-${day + 10}.log`);
      for (const name of names) await writeFile(join(victim.folder, name), '');
      await symlink(victim.folder, join(clusterDir, 'log'));
      expect(() => pruneLogs({ clusterDir, account: daemon })).toThrow(/EACCES/);
      expect(await readdir(victim.folder)).toHaveLength(names.length + 1);
    });

    it('a link planted in a deleted folder is deleted, but its target is not', async () => {
      const parent = await harness.folder();
      const victim = await folderOfRoot();
      const folder = join(parent, 'postgres.making-abc');
      await mkdir(folder);
      await symlink(victim.folder, join(folder, 'link'));
      await chown(folder, DAEMON.uid, DAEMON.gid);
      removeFolder(folder);
      expect(await readdir(parent)).toEqual([]);
      await expectUntouched(victim);
    });
  },
);
