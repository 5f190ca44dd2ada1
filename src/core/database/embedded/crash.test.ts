import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signalIfAlive } from '../../../../tests/support/command.ts';
import {
  buildEmbeddedProcess,
  EmbeddedHarness,
  isRootRun,
  query,
  queryWhenUp,
  TEST_NAME,
  waitUntilNoProcesses,
} from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { findBinaries } from './binaries.ts';
import { type EmbeddedDatabase, openEmbedded } from './open-embedded.ts';
import { readPostmasterFile } from './postmaster.ts';
import { processesOf } from './processes.ts';

const harness = new EmbeddedHarness();
let program = '';
beforeAll(async () => {
  program = await buildEmbeddedProcess(await harness.folder());
});
afterAll(() => harness.clear());

const open = (dataDir: string) => openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });

async function killPostmaster(location: string): Promise<void> {
  process.kill((await readPostmasterFile(location))?.pid ?? expect.unreachable(), 'SIGKILL');
}

/** Counts the listening socket of this path and the connections to it, even those that have not been accepted yet. */
async function socketsNamed(path: string): Promise<number> {
  const table = await readFile('/proc/net/unix', 'utf8');
  return table.split('\n').filter((line) => line.endsWith(` ${path}`)).length;
}

/** Writes a row to check that it survives. */
async function writeWord({ url }: Pick<EmbeddedDatabase, 'url'>, word: string): Promise<void> {
  await query(url, 'CREATE TABLE IF NOT EXISTS words (word text)');
  await query(url, `INSERT INTO words VALUES ('${word}')`);
}

describe('after a crash', () => {
  it('the next start deletes the remains of a first start that was killed halfway, and creates the database', async () => {
    const dataDir = join(await harness.folder(), 'data');
    const binaries = await findBinaries(process.platform, process.arch);
    // This initdb does not exit, so the process is killed before it has created the database.
    const initdb = join(await harness.folder(), 'initdb');
    await writeFile(initdb, `#!/bin/sh\n'${binaries.initdb}' "$@"\nkill -STOP $$\n`, { mode: 0o755 });
    const killed = harness.start(program, { dataDir, mode: 'own', binaries: { ...binaries, initdb } });
    const making = async () =>
      (await readdir(dataDir, { recursive: true }).catch(() => [])).some((name) => /making-.*PG_VERSION$/.test(name));
    await expect.poll(making).toBe(true);
    await killed.kill('SIGKILL');
    expect(await readdir(dataDir)).not.toContain('postgres');
    const database = await open(dataDir);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres.owner']);
    await database.stop();
  });

  it('killing all processes at the same time loses no committed write', async () => {
    const dataDir = await harness.createDataDir();
    const killed = harness.start(program, { dataDir, mode: 'own' });
    const { url, location } = await killed.opened();
    await writeWord({ url }, 'committed');
    const everything = [killed.pid, ...(await processesOf(location))];
    for (const pid of everything) signalIfAlive(pid, 'SIGKILL');
    const database = await open(dataDir);
    expect(await query(database.url, 'SELECT word FROM words')).toEqual([{ word: 'committed' }]);
    await database.stop();
  });

  it.runIf(process.platform === 'linux')('a server that dies while it is being adopted is not used', async () => {
    const dataDir = await harness.createDataDir();
    const killed = harness.start(program, { dataDir, mode: 'own' });
    const { url, location } = await killed.opened();
    await writeWord({ url }, 'committed');
    const postmaster = (await readPostmasterFile(location))?.pid ?? expect.unreachable();
    // Simulates a killed process that still exists: the kernel accepts connections for a suspended process as well.
    process.kill(postmaster, 'SIGSTOP');
    await killed.kill('SIGKILL');
    const opening = open(dataDir);
    await expect.poll(() => socketsNamed(join(location, '.s.PGSQL.5432'))).toBeGreaterThan(1);
    process.kill(postmaster, 'SIGKILL');
    const database = await opening;
    expect(await query(database.url, 'SELECT word FROM words')).toEqual([{ word: 'committed' }]);
    await database.stop();
  });

  it('another process that reuses the id in postmaster.pid is not mistaken for the server', async () => {
    const dataDir = await harness.createDataDir();
    const { location, stop } = await open(dataDir);
    const running = await readFile(join(location, 'postmaster.pid'), 'utf8');
    await stop();
    const account = isRootRun ? { uid: 65534, gid: 65534 } : {};
    const stranger = spawn('sleep', ['600'], { ...account, stdio: 'ignore' });
    try {
      await writeFile(join(location, 'postmaster.pid'), running.replace(/^\d+/, String(stranger.pid)));
      await writeFile(join(location, '.s.PGSQL.5432.lock'), `${stranger.pid}\n`);
      const database = await open(dataDir);
      expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await database.stop();
      expect(stranger.exitCode).toBeNull();
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('a postmaster.pid of a dead process, or with invalid content, is ignored', async () => {
    const dataDir = await harness.createDataDir();
    const { location, stop } = await open(dataDir);
    const running = await readFile(join(location, 'postmaster.pid'), 'utf8');
    await stop();
    for (const stale of [running, '', 'nonsense\n']) {
      await writeFile(join(location, 'postmaster.pid'), stale);
      const database = await open(dataDir);
      expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await database.stop();
    }
  });

  it('a server that is running, but not visible to this process, is not replaced', async () => {
    const dataDir = await harness.createDataDir();
    const { location, stop } = await open(dataDir);
    const running = await readFile(join(location, 'postmaster.pid'), 'utf8');
    await stop();
    // In a container, the process id of the host's postmaster is not valid, but its socket has a listener.
    await writeFile(join(location, 'postmaster.pid'), running);
    const postmaster = createServer().listen(join(location, '.s.PGSQL.5432'));
    await once(postmaster, 'listening');
    await expect(open(dataDir)).rejects.toMatchObject({ code: 'data_dir_in_use' });
    expect(await readFile(join(location, 'postmaster.pid'), 'utf8')).toBe(running);
    await new Promise((resolve) => postmaster.close(resolve));
    await (await open(dataDir)).stop();
  });

  it('an unreadable postmaster.pid is an error, because a server may be running', async () => {
    const folder = await harness.folder();
    await mkdir(join(folder, 'postmaster.pid'));
    await expect(readPostmasterFile(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

describe('while the database is open', () => {
  it('a killed postmaster is restarted at the same URL, even if a backend still holds the shared memory', async () => {
    const messages: string[] = [];
    const record = (fields: object | string, message?: string) => void messages.push(message ?? String(fields));
    const database = await openEmbedded({
      name: TEST_NAME,
      dataDir: await harness.createDataDir(),
      mode: 'own',
      log: { info: record, warn: record, error: record },
    });
    await writeWord(database, 'before');
    const backend = query(database.url, 'SELECT pg_sleep(600)').catch(() => undefined);
    const sleeping = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()";
    await expect.poll(() => query(database.url, sleeping)).toHaveLength(1);
    process.kill(Number((await query(database.url, sleeping))[0]?.pid), 'SIGSTOP');
    await killPostmaster(database.location);
    await expect.poll(() => messages.join('\n')).toContain('is running again');
    await backend;
    expect(await queryWhenUp(database.url, 'SELECT word FROM words')).toEqual([{ word: 'before' }]);
    await database.stop();
    await waitUntilNoProcesses(database.location);
  });

  it('a killed postmaster whose socket is in a folder with a short path is restarted at the same URL, even if that folder is deleted', async () => {
    const dataDir = await harness.createDataDir(join(await harness.folder(), 'deep'.repeat(30)));
    const database = await open(dataDir);
    try {
      const socketDir = new URL(database.url).searchParams.get('host') ?? '';
      expect(socketDir).not.toBe(database.location);
      const { mode, uid } = await stat(socketDir);
      for (const isDeleted of [false, true]) {
        const before = (await readPostmasterFile(database.location))?.pid;
        if (isDeleted) await rm(socketDir, { recursive: true });
        await killPostmaster(database.location);
        expect(await queryWhenUp(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
        expect((await readPostmasterFile(database.location))?.pid).not.toBe(before);
        expect(await stat(socketDir)).toMatchObject({ mode, uid });
      }
    } finally {
      await database.stop();
    }
    await waitUntilNoProcesses(database.location);
  });

  it('an adopted server is restarted after a crash, like one that this process started', async () => {
    const dataDir = await harness.createDataDir();
    const killed = harness.start(program, { dataDir, mode: 'own' });
    const { location } = await killed.opened();
    await killed.kill('SIGKILL');
    const database = await open(dataDir);
    const before = (await readPostmasterFile(location))?.pid;
    await killPostmaster(location);
    await expect.poll(async () => (await readPostmasterFile(location))?.pid ?? before).not.toBe(before);
    expect(await queryWhenUp(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.stop();
    await waitUntilNoProcesses(location);
  });

  it('a server that gets SIGTERM from outside is restarted, although an open session delays its shutdown', async () => {
    const database = await open(await harness.createDataDir());
    const session = query(database.url, 'SELECT pg_sleep(600)').catch(() => undefined);
    const sleeping = "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()";
    await expect.poll(() => query(database.url, sleeping)).toHaveLength(1);
    const pidNow = async () => (await readPostmasterFile(database.location))?.pid;
    const before = (await pidNow()) ?? expect.unreachable();
    process.kill(before, 'SIGTERM');
    await expect.poll(async () => (await pidNow()) ?? before).not.toBe(before);
    expect(await queryWhenUp(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await session;
    await database.stop();
    await waitUntilNoProcesses(database.location);
  });

  it('a failing restart is retried until it succeeds, or until the database is stopped', async () => {
    const errors: string[] = [];
    const log = { ...silentLog, error: (_: object | string, message = '') => void errors.push(message) };
    const dataDir = await harness.createDataDir();
    const database = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log });
    const settings = join(database.location, 'postgresql.conf');
    const original = await readFile(settings, 'utf8');
    await appendFile(settings, 'no_such_setting = 1\n');
    await killPostmaster(database.location);
    await expect.poll(() => errors.join('\n')).toContain('no_such_setting');
    await writeFile(settings, original);
    expect(await queryWhenUp(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await appendFile(settings, 'no_such_setting = 1\n');
    await killPostmaster(database.location);
    errors.length = 0;
    await expect.poll(() => errors.join('\n')).toContain('trying again');
    await database.stop();
    await waitUntilNoProcesses(database.location);
    // Another start frees the shared memory of the killed server.
    await writeFile(settings, original);
    await (await open(dataDir)).stop();
  });

  it('Ctrl-C in the terminal does not reach the server, which its owner shuts down cleanly', async () => {
    const site = harness.start(program, { dataDir: await harness.createDataDir(), mode: 'own' });
    const { url, location } = await site.opened();
    process.kill(-site.pid, 'SIGINT');
    await site.waitForEvent(({ event }) => event === 'interrupted');
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await site.stop();
    await waitUntilNoProcesses(location);
    expect(await readPostmasterFile(location)).toBeUndefined();
  });
});
