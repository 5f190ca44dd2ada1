import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  buildEmbeddedProcess,
  EmbeddedHarness,
  query,
  TEST_NAME,
  waitUntilNoProcesses,
} from '../../../../tests/support/embedded-harness.ts';
import { silentLog } from '../../../../tests/support/silent-log.ts';
import { openEmbedded } from './open-embedded.ts';
import { becomeOwner, OwnerConnection } from './ownership.ts';

const harness = new EmbeddedHarness();
let program = '';
beforeAll(async () => {
  program = await buildEmbeddedProcess(await harness.folder());
});
afterAll(() => harness.clear());

const RESPONSE_TIMEOUT_MS = 10_000;

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('one owner per data folder', () => {
  it('a second site is told which process uses the database, and since when', async () => {
    const dataDir = await harness.createDataDir();
    const beforeMs = Date.now();
    const site = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });
    site.setOwnerNote('http://127.0.0.1:4711');
    const second = harness.start(program, { dataDir, mode: 'own' });
    const { code, message } = await second.failed();
    expect(code).toBe('data_dir_in_use');
    expect(message).toContain(`process ${process.pid} (http://127.0.0.1:4711), which has used it since `);
    const since = Date.parse(/ since (\S+): /.exec(message)?.[1] ?? '');
    // The clock may move back slightly.
    expect(since).toBeGreaterThanOrEqual(beforeMs - 1_000);
    expect(since).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(message).toContain(dataDir);
    expect(message).not.toContain('\n');
    await site.stop();
  });

  it('exactly one of two sites that start at the same time gets a new data folder', async () => {
    const dataDir = join(await harness.folder(), 'data');
    const both = [harness.start(program, { dataDir, mode: 'own' }), harness.start(program, { dataDir, mode: 'own' })];
    const outcomes = await Promise.allSettled(both.map((one) => one.opened()));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const loser = both[outcomes.findIndex(({ status }) => status === 'rejected')];
    expect(await loser?.failed()).toMatchObject({ code: 'data_dir_in_use' });
    await both[outcomes.findIndex(({ status }) => status === 'fulfilled')]?.stop();
    await waitUntilNoProcesses(join(dataDir, 'postgres'));
  });

  it('the next process gets the folder of a killed owner, and adopts the server', async () => {
    const dataDir = await harness.createDataDir();
    const killed = harness.start(program, { dataDir, mode: 'own' });
    const { url } = await killed.opened();
    const [before] = await query(url, 'SELECT pg_postmaster_start_time()::text AS since');
    await killed.kill('SIGKILL');
    const next = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });
    expect(next.url).toBe(url);
    expect(await query(next.url, 'SELECT pg_postmaster_start_time()::text AS since')).toEqual([before]);
    await next.stop();
    await waitUntilNoProcesses(next.location);
  });

  it('an unresponsive owner does not count as dead', async () => {
    const dataDir = await harness.createDataDir();
    const frozen = harness.start(program, { dataDir, mode: 'own' });
    await frozen.opened();
    process.kill(frozen.pid, 'SIGSTOP');
    fakeTimers();
    const opening = openEmbedded({ name: TEST_NAME, dataDir, mode: 'own', log: silentLog });
    const refused = expect(opening).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('a process that does not respond'),
    });
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(RESPONSE_TIMEOUT_MS);
    await refused;
    process.kill(frozen.pid, 'SIGCONT');
    await frozen.stop();
  });

  it("an owner's response that arrived while this process was blocked is read", async () => {
    const address = join(await harness.folder(), 'owner.sock');
    const owner = createServer((socket) => {
      socket.once('data', () => {
        socket.write('{"status":{"pid":1}}\n');
        // The response has arrived, but is read only in the next turn of the event loop.
        setImmediate(() => vi.advanceTimersByTime(RESPONSE_TIMEOUT_MS));
      });
    }).listen(address);
    onTestFinished(() => void owner.close());
    await once(owner, 'listening');
    fakeTimers();
    const connection = new OwnerConnection(connect(address));
    expect(await connection.ask('share')).toEqual({ pid: 1 });
    await connection.close();
  });
});

describe('commands', () => {
  it('a command uses the database of a running site and leaves it running', async () => {
    const dataDir = await harness.createDataDir();
    const site = harness.start(program, { dataDir, mode: 'own' });
    const { url } = await site.opened();
    const command = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog });
    expect(command.url).toBe(url);
    await command.stop();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await site.stop();
    await waitUntilNoProcesses(join(dataDir, 'postgres'));
  });

  it('a command starts the database if none runs, and stops it afterwards', async () => {
    const dataDir = await harness.createDataDir();
    const command = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog });
    expect(await query(command.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await command.stop();
    await waitUntilNoProcesses(command.location);
  });

  it('a command hands the database that it started over to a new site, and can still use it', async () => {
    const dataDir = await harness.createDataDir();
    const command = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog });
    const site = harness.start(program, { dataDir, mode: 'own' });
    const { url } = await site.opened();
    expect(url).toBe(command.url);
    expect(await query(command.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await command.stop();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await site.stop();
    await waitUntilNoProcesses(command.location);
  });

  it('a command that waits for a site to start the database can be interrupted', async () => {
    const dataDir = await harness.createDataDir();
    const attempt = await becomeOwner(TEST_NAME, dataDir, 'own');
    const site = 'owned' in attempt ? attempt.owned : expect.unreachable();
    const controller = new AbortController();
    const { signal } = controller;
    const command = openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog, signal });
    await expect.poll(() => site.sharers()).toBe(1);
    controller.abort(new Error('Interrupted.'));
    await expect(command).rejects.toThrow('Interrupted.');
    await expect.poll(() => site.sharers()).toBe(0);
    site.release();
  });

  it('a command that is interrupted while it connects to the site does not wait for the database', async () => {
    const dataDir = await harness.createDataDir();
    const attempt = await becomeOwner(TEST_NAME, dataDir, 'own');
    const site = 'owned' in attempt ? attempt.owned : expect.unreachable();
    const controller = new AbortController();
    const { signal } = controller;
    // The signal arrives directly after the check that precedes the connection.
    vi.spyOn(signal, 'throwIfAborted').mockImplementationOnce(() => controller.abort(new Error('Interrupted.')));
    const command = openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog, signal });
    await expect(command).rejects.toThrow('Interrupted.');
    site.release();
  });

  it.each([
    ['the command that started it', 'share'],
    ['the site', 'own'],
  ])('a command keeps the database running when %s ends, and stops it afterwards', async (_, mode) => {
    const dataDir = await harness.createDataDir();
    const first = harness.start(program, { dataDir, mode });
    await first.opened();
    const second = await openEmbedded({ name: TEST_NAME, dataDir, mode: 'share', log: silentLog });
    await first.stop();
    expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await second.stop();
    await waitUntilNoProcesses(second.location);
  });
});
