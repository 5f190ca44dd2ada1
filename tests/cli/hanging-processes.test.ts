import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness, expectFailure, workersOf } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';

const harness = new CommandHarness();
beforeAll(installCommand);
afterEach(() => harness.clear());

/**
 * Code that makes a process start an endless loop on SIGUSR2. The loop sleeps, so it does not take CPU time from other
 * tests.
 */
const LOOP_ON_SIGNAL = `const cell = new Int32Array(new SharedArrayBuffer(4));
  process.on('SIGUSR2', () => { for (;;) Atomics.wait(cell, 0, 0, 100); });`;

/** Code that makes the next attempt to start a worker fail after SIGUSR2, as on a machine without free memory. */
const FAIL_ON_SIGNAL = `import cluster from 'node:cluster';
  process.on('SIGUSR2', () => {
    cluster.settings.cwd = '/missing';
    cluster.once('fork', () => delete cluster.settings.cwd);
    console.error('ready to fail');
  });`;

/** Code that kills each worker when it starts, as a machine without free memory does. */
const KILL_WORKERS = `import cluster from 'node:cluster';
  if (cluster.isWorker) process.kill(process.pid, 'SIGKILL');`;

/** Code that lets only the first two workers listen. */
const LISTEN_IN_TWO = `import cluster from 'node:cluster';
  import { Server } from 'node:net';
  if (cluster.worker?.id > 2) Server.prototype.listen = () => { throw new Error('no socket left'); };`;

/** Returns the settings of a site whose processes run this code first. */
async function settingsWith(code: string, settings: Record<string, string>) {
  const script = join(await harness.folder(), 'first.mjs');
  await writeFile(script, code);
  return { DATA_DIR: await harness.sampleDataDir(), NODE_OPTIONS: `--import ${script}`, ...settings };
}

async function serveWith(code: string, settings: Record<string, string>) {
  return harness.serve(await settingsWith(code, settings));
}

test('a suspended worker and a worker in an endless loop are killed and replaced while a third one serves', async () => {
  const site = await serveWith(LOOP_ON_SIGNAL, { LOG_LEVEL: 'error', WEB_CONCURRENCY: '3' });
  const [stopped, looping, third] = await workersOf(site.process.pid);
  if (stopped === undefined || looping === undefined) throw new Error('The site does not have three workers');
  process.kill(stopped, 'SIGSTOP');
  process.kill(looping, 'SIGUSR2');
  // Each of the two workers may have accepted one connection to which it never responds.
  const ask = (): Promise<number> =>
    fetch(`${site.address}/healthz`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(10_000) }).then(
      ({ status }) => status,
      () => 0,
    );
  for (let succeeded = 0; succeeded < 3; ) if ((await ask()) === 200) succeeded += 1;

  for (const pid of [stopped, looping])
    await site.waitForOutput(new RegExp(`(?=.*Killing unresponsive worker)(?=.*"pid":${pid}\\b)`));
  await expect
    .poll(async () => {
      const now = await workersOf(site.process.pid);
      return { count: now.length, old: [stopped, looping, third].filter((pid) => pid && now.includes(pid)) };
    })
    .toEqual({ count: 3, old: [third] });
  await expect.poll(ask).toBe(200);
  site.process.kill('SIGTERM');
  expect(await site.exited).toMatchObject({ code: 0 });
});

test('a failed attempt to start a worker is retried', async () => {
  const site = await serveWith(FAIL_ON_SIGNAL, { LOG_LEVEL: 'warn', WEB_CONCURRENCY: '2' });
  const before = await workersOf(site.process.pid);
  const [first, second] = before;
  if (first === undefined || second === undefined) throw new Error('The site does not have two workers');
  site.process.kill('SIGUSR2');
  await site.waitForOutput(/ready to fail/);
  // The spare process replaces the first worker, but no new spare process can be started at first.
  process.kill(first, 'SIGKILL');
  await site.waitForOutput(/Cannot start, stop or reach a worker process/);
  process.kill(second, 'SIGKILL');
  const replacements = async () => (await workersOf(site.process.pid)).filter((pid) => !before.includes(pid));
  await expect.poll(async () => (await replacements()).length).toBe(2);
  site.process.kill('SIGTERM');
  expect(await site.exited).toMatchObject({ code: 0 });
});

test('the reason why a replacement worker cannot start is logged', async () => {
  const site = await serveWith(LISTEN_IN_TWO, { LOG_LEVEL: 'error', WEB_CONCURRENCY: '2' });
  const [first = 0] = await workersOf(site.process.pid);
  process.kill(first, 'SIGKILL');
  await site.waitForOutput(/"reason":"[^"]*no socket left\. Check HOST and PORT\.","msg":"A worker cannot start"/);
  site.process.kill('SIGTERM');
  expect(await site.exited).toMatchObject({ code: 0 });
});

// Service managers restart a site that exits with code 1, but not one that exits with code 2.
test('a site whose workers are killed while it starts exits with code 1', async () => {
  // A message to a worker that was just killed fails, which is logged as a warning.
  const settings = await settingsWith(KILL_WORKERS, { LOG_LEVEL: 'error', PORT: '0', WEB_CONCURRENCY: '2' });
  const site = harness.start(['serve'], { settings });
  expectFailure(await site.exited, 1, /A worker exited before it was ready$/);
});
