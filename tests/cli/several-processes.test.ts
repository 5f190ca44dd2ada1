import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness, databasePids, expectRefusal, runCommand, workersOf } from '../support/command.ts';
import { openEvents } from '../support/event-client.ts';
import { sendHalfComment } from '../support/half-sent-comment.ts';
import { installCommand } from '../support/installed-command.ts';
import { buildPng } from '../support/picture-bytes.ts';

const TOKEN = 'a-token-of-this-test';
const REQUESTS = /^groundswell_http_requests_total\{method="GET",route="\/api\/products\/:id",status="200"\} 20$/m;

/** Code that makes each worker read the metrics once it listens, before it reports that it is up. */
const READ_METRICS_FIRST = `import cluster from 'node:cluster';
  const send = process.send?.bind(process);
  if (cluster.isWorker) process.send = (message, ...rest) => {
    if (message.kind !== 'up') return send(message, ...rest);
    const headers = { authorization: 'Bearer ${TOKEN}', connection: 'close' };
    fetch(message.address + '/metrics', { headers }).then(async (response) => {
      console.error('early metrics:', response.status, (await response.text()).match(/^nodejs_version_info/m)?.[0]);
      send(message, ...rest);
    });
  };`;

const harness = new CommandHarness();
beforeAll(installCommand);
afterEach(() => harness.clear());

async function metricsOf(address: string): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}`, connection: 'close' };
  return (await fetch(`${address}/metrics`, { headers, signal: AbortSignal.timeout(30_000) })).text();
}

/** Sends a request over a new connection, so each request may reach another process. @returns the status. */
async function askApart(url: string): Promise<number> {
  return (await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(30_000) })).status;
}

test('two workers share a port and aggregate their metrics; after a crash, no connection is refused, and the replacements have the same logo; Ctrl-C stops all with exit code 0', async () => {
  const dataDir = await harness.sampleDataDir();
  const logoFile = join(await harness.folder(), 'logo.png');
  const logo = buildPng({ width: 9, height: 9 });
  await writeFile(logoFile, logo);
  const site = await harness.serve({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    WEB_CONCURRENCY: '2',
    METRICS_TOKEN: TOKEN,
    SITE_LOGO: logoFile,
  });
  const ask = (path: string) => fetch(`${site.address}${path}`, { headers: { connection: 'close' } });
  const logoOfPage = async () => /"(\/brand\/[^"]+)"/.exec(await (await ask('/')).text())?.[1] ?? expect.unreachable();
  expect(site.products).toBeGreaterThan(0);
  expect(await workersOf(site.process.pid)).toHaveLength(2);
  for (let asked = 0; asked < 20; asked += 1) expect(await askApart(`${site.address}/api/products/git`)).toBe(200);
  // Either worker reports all 20 requests.
  for (let asked = 0; asked < 4; asked += 1) {
    for (const line of [
      REQUESTS,
      /^groundswell_processes_up 2$/m,
      /^groundswell_database_connections\{state="max"\} 20$/m,
      /^groundswell_count_drift 0$/m,
    ]) {
      // If a worker responds too late, its metrics are those of its previous response.
      await expect.poll(() => metricsOf(site.address)).toMatch(line);
    }
  }

  const logoAddress = await logoOfPage();
  await writeFile(logoFile, buildPng({ width: 8, height: 8 }));
  const before = await workersOf(site.process.pid);
  for (const pid of before) process.kill(pid, 'SIGKILL');
  // Needs no retry: the primary process keeps the port open, so the connection waits for a replacement worker.
  expect((await ask('/readyz')).status).toBe(200);
  // Replacement workers have the logo with which the site started.
  expect(await logoOfPage()).toBe(logoAddress);
  expect(Buffer.from(await (await ask(logoAddress)).arrayBuffer())).toEqual(logo);
  await expect.poll(() => metricsOf(site.address)).toMatch(/^groundswell_processes_up 2$/m);
  expect(await metricsOf(site.address)).toMatch(/^groundswell_processes_replaced_total 2$/m);
  // Counters include the requests to the workers that were killed.
  expect(await metricsOf(site.address)).toMatch(REQUESTS);
  const after = await workersOf(site.process.pid);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);

  // Sends the beginning of a comment before the stop, and the rest after it.
  const comment = await sendHalfComment(site.address);
  const page = await openEvents(`${site.address}/api/events`);
  // Ctrl-C in a terminal reaches every process.
  for (const pid of [...after, site.process.pid ?? expect.unreachable()]) process.kill(pid, 'SIGINT');
  // The site ends streams when it begins to stop. The rest of the comment must arrive within five seconds, after which
  // the site aborts requests.
  await page.closed;
  comment.sendRest();
  expect(await site.exited).toMatchObject({ code: 0 });
  expect(comment.received()).toMatch(/^HTTP\/1\.1 201 /m);
  expect(page.text()).toMatch(/\nretry: \d+\n\n$/);
  comment.socket.destroy();
  expect(await databasePids(dataDir)).toEqual([]);
});

test('metrics that are read before all workers are up are those of the primary process', async () => {
  const script = join(await harness.folder(), 'first.mjs');
  await writeFile(script, READ_METRICS_FIRST);
  const site = await harness.serve({
    DATA_DIR: await harness.sampleDataDir(),
    LOG_LEVEL: 'error',
    WEB_CONCURRENCY: '2',
    METRICS_TOKEN: TOKEN,
    NODE_OPTIONS: `--import ${script}`,
  });
  await site.waitForOutput(/early metrics: 200 nodejs_version_info/);
  expect(await metricsOf(site.address)).toMatch(/^groundswell_processes_up 2$/m);
  site.process.kill('SIGTERM');
  expect(await site.exited).toMatchObject({ code: 0 });
});

test('during the STOP_DELAY, the metrics still include all workers', async () => {
  const site = await harness.serve({
    DATA_DIR: await harness.sampleDataDir(),
    LOG_LEVEL: 'error',
    WEB_CONCURRENCY: '2',
    METRICS_TOKEN: TOKEN,
    STOP_DELAY: '300',
  });
  site.process.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${site.address}/readyz`)).json()).toEqual({ status: 'stopping' });
  for (let asked = 0; asked < 20; asked += 1) expect(await askApart(`${site.address}/api/products/git`)).toBe(200);
  await expect.poll(() => metricsOf(site.address)).toMatch(REQUESTS);
  expect(await metricsOf(site.address)).toMatch(/^groundswell_processes_up 2$/m);
});

test('when the primary process is killed, its workers exit, and the next site takes over the database', async () => {
  const dataDir = await harness.sampleDataDir();
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', WEB_CONCURRENCY: '2' };
  const site = await harness.serve(settings);
  const workers = await workersOf(site.process.pid);
  expect(workers).toHaveLength(2);
  site.process.kill('SIGKILL');
  await expect.poll(() => workers.filter(isRunning)).toEqual([]);
  const next = await harness.serve(settings);
  expect(await askApart(`${next.address}/api/products/git`)).toBe(200);
  next.process.kill('SIGTERM');
  expect(await next.exited).toMatchObject({ code: 0 });
});

test('a WEB_CONCURRENCY that needs more connections than the database allows is refused, and a smaller one works', async () => {
  const dataDir = await harness.sampleDataDir();
  const file = join(dataDir, 'postgres', 'postgresql.conf');
  await writeFile(file, `${await readFile(file, 'utf8')}\nmax_connections = 40\n`);
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', PORT: '0' };
  const refused = await runCommand(['serve'], { settings: { ...settings, WEB_CONCURRENCY: '16' } });
  expectRefusal(
    refused,
    /^groundswell: WEB_CONCURRENCY: 16 processes open up to 52 connections, but only 37 are allowed \(limited by max_connections\)\. .*postgresql\.conf/,
  );
  const site = await harness.serve({ ...settings, WEB_CONCURRENCY: '4', METRICS_TOKEN: TOKEN });
  await expect.poll(() => metricsOf(site.address)).toMatch(/^groundswell_database_connections\{state="max"\} 20$/m);
  site.process.kill('SIGTERM');
  expect(await site.exited).toMatchObject({ code: 0 });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
