import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddedHarness, query, TEST_NAME, waitUntilNoProcesses } from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { thisHost } from './cluster-location.ts';
import { openEmbedded } from './open-embedded.ts';
import { processesOf } from './processes.ts';

const harness = new EmbeddedHarness();
afterAll(() => harness.clear());

const open = (dataDir: string, host = thisHost) =>
  openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog, durability: 'none' }, host);

describe('embedded databases', () => {
  it('an embedded database preserves its data and its URL when it is stopped and started again', async () => {
    const dataDir = await harness.createDataDir();
    const first = await open(dataDir);
    await query(first.url, 'CREATE TABLE kept (word text)');
    await query(first.url, "INSERT INTO kept VALUES ('still here')");
    await first.stop();
    await waitUntilNoProcesses(first.location);
    const second = await open(dataDir);
    expect(await query(second.url, 'SELECT word FROM kept')).toEqual([{ word: 'still here' }]);
    expect(second.url).toBe(first.url);
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres.owner']);
    await second.stop();
  });

  it('an embedded database can be stopped and created again after its folder was deleted', async () => {
    const dataDir = await harness.createDataDir();
    const { location, stop } = await open(dataDir);
    const pids = await processesOf(location);
    expect(pids).not.toEqual([]);
    await rm(dataDir, { recursive: true, maxRetries: 5 });
    await stop();
    const isAlive = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await (await open(dataDir)).stop();
  });

  it('an embedded database does not use variables that are meant for other databases', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('PGSSLMODE', 'require');
    vi.stubEnv('PGSSLNEGOTIATION', 'direct');
    vi.stubEnv('PGOPTIONS', '-c search_path=other');
    const database = await open(await harness.createDataDir());
    expect(await query(database.url, 'SHOW search_path')).toEqual([{ search_path: '"$user", public' }]);
    await database.stop();
  });

  it.runIf(process.platform === 'linux')('stopping an embedded database waits until its logger has ended', async () => {
    const database = await open(await harness.createDataDir());
    const titles = async () =>
      Promise.all(
        (await processesOf(database.location)).map(async (pid) => ({
          pid,
          title: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
        })),
      );
    const logger = (await titles()).find(({ title }) => title.includes('logger'))?.pid;
    if (logger === undefined) throw new Error('The server has no logger');
    process.kill(logger, 'SIGSTOP');
    // Stops the clock, because `stop` kills the logger after ten seconds, and the polls below may take that long.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => clock.mockRestore());
    let stopped = false;
    const stopping = database.stop().then(() => {
      stopped = true;
    });
    // Only the logger is left.
    await expect.poll(() => processesOf(database.location)).toEqual([logger]);
    // If `stop` did not wait for the logger, it would return within one more poll.
    for (let polls = 0; polls < 20; polls += 1) await processesOf(database.location);
    expect(stopped).toBe(false);
    process.kill(logger, 'SIGCONT');
    await stopping;
    expect(await processesOf(database.location)).toEqual([]);
  });

  it('an embedded database is durable and private, and supports Unicode', async () => {
    const dataDir = join(await harness.folder(), 'data');
    const { url, location, stop } = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });
    const setting = async (name: string) => (await query(url, `SHOW ${name}`))[0]?.[name];
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) expect(await setting(name)).toBe('on');
    expect(await setting('listen_addresses')).toBe('');
    expect(await setting('server_encoding')).toBe('UTF8');
    expect(await query(url, "SELECT lower('ÀÖŠЖ') AS lower, 'CAFÉ' ILIKE 'café' AS ilike")).toEqual([
      { lower: 'àöšж', ilike: true },
    ]);
    expect((await stat(location)).mode & 0o777).toBe(0o700);
    expect((await stat(join(location, `${TEST_NAME}.password`))).mode & 0o777).toBe(0o600);
    await expect(query(url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
    await expect(query(url.replace(`//${TEST_NAME}:`, '//postgres:'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
    await query(url, 'CREATE EXTENSION pg_trgm');
    await stop();
  });

  it('an embedded database works in a folder whose path has spaces, quotes and non-ASCII letters', async () => {
    const dataDir = join(await harness.folder(), 'data', 'mes données, "日本" 100%');
    const database = await open(dataDir);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.stop();
    await waitUntilNoProcesses(database.location);
  });

  it('an embedded database accepts a relative data folder', async () => {
    const dataDir = await harness.createDataDir();
    const database = await open(relative(process.cwd(), dataDir));
    expect(database.location).toBe(join(dataDir, 'postgres'));
    await database.stop();
  });

  it('an embedded database whose path is too long for a socket listens in a folder with a short path, and deletes it afterwards', async () => {
    const dataDir = await harness.createDataDir(join(await harness.folder(), 'deep'.repeat(30)));
    const database = await open(dataDir);
    const socketDir = new URL(database.url).searchParams.get('host') ?? '';
    expect((await stat(socketDir)).mode & 0o777).toBe(0o700);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await expect(open(dataDir)).rejects.toMatchObject({ code: 'data_dir_in_use' });
    await database.stop();
    await expect(stat(socketDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['', 'my app', 'app"; --', '../app'])(
    'the name %j is rejected, because it is not safe in SQL and paths',
    async (name) => {
      const opening = openEmbedded({ name, dataDir: await harness.folder(), mode: 'own', log: silentLog });
      await expect(opening).rejects.toThrow(TypeError);
    },
  );

  it('an embedded database listens on a loopback port if there are no Unix sockets', async () => {
    const dataDir = await harness.createDataDir();
    const database = await open(dataDir, { ...thisHost, unixSockets: false });
    expect(new URL(database.url).hostname).toBe('127.0.0.1');
    expect(await query(database.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    await database.stop();
  });
});
