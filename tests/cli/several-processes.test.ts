import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { databasesOf, expectRefusal, Ground, installCommand, runCommand } from '../support/command.ts';
import { openEvents } from '../support/event-client.ts';

const TOKEN = 'a-token-of-this-test';
const run = promisify(execFile);

const ground = new Ground();
beforeAll(installCommand, 120_000);
afterEach(() => ground.clear());

/** The processes that serve, which the first one started; not its database. */
async function workersOf(pid: number | undefined): Promise<number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', String(pid)]);
  const lines = stdout.split('\n').filter((line) => line.includes('cli.js serve'));
  return lines.map((line) => Number.parseInt(line, 10));
}

async function metricsOf(address: string): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}`, connection: 'close' };
  return (await fetch(`${address}/metrics`, { headers, signal: AbortSignal.timeout(5_000) })).text();
}

/**
 * On a connection of its own, so that each may come to another process. Not waited for without end: a connection that is just
 * being handed to a process that is killed is lost with it.
 */
async function askApart(url: string): Promise<number> {
  return (await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(3_000) })).status;
}

test('two processes serve one port and tell their metrics as one; one that is killed is replaced; all end with 0', async () => {
  const dataDir = await ground.dataDir();
  const site = await ground.serve({
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    WEB_CONCURRENCY: '2',
    METRICS_TOKEN: TOKEN,
  });
  expect(site.products).toBeGreaterThan(0);
  expect(await workersOf(site.process.pid)).toHaveLength(2);
  for (let asked = 0; asked < 20; asked += 1) expect(await askApart(`${site.address}/api/products/git`)).toBe(200);
  // Whichever of the two answers, it tells of all 20.
  for (let asked = 0; asked < 4; asked += 1) {
    const text = await metricsOf(site.address);
    expect(text).toMatch(
      /^groundswell_http_requests_total\{method="GET",route="\/api\/products\/:id",status="200"\} 20$/m,
    );
    expect(text).toMatch(/^groundswell_processes_up 2$/m);
    expect(text).toMatch(/^groundswell_database_connections\{state="max"\} 20$/m);
    expect(text).toMatch(/^groundswell_count_drift 0$/m);
  }

  const before = await workersOf(site.process.pid);
  for (const pid of before) process.kill(pid, 'SIGKILL');
  // Both at once, so that nothing keeps the port but the first process's memory of it.
  const healthy = () => askApart(`${site.address}/readyz`).catch(() => 0);
  await expect.poll(healthy, { timeout: 60_000 }).toBe(200);
  await expect.poll(() => metricsOf(site.address), { timeout: 60_000 }).toMatch(/^groundswell_processes_up 2$/m);
  expect(await metricsOf(site.address)).toMatch(/^groundswell_processes_replaced_total 2$/m);
  const after = await workersOf(site.process.pid);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);

  // One half of a comment before the stop, the other half after it.
  const { hostname, port } = new URL(site.address);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  await once(socket, 'connect');
  const body = JSON.stringify({ productId: 'git', content: 'Half now, half later.' });
  const head = `POST /api/comments HTTP/1.1\r\nHost: site\r\nContent-Type: application/json\r\nX-User-Session: session-stopping\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
  socket.write(head);
  await expect.poll(() => received).toContain('100 Continue');
  socket.write(body.slice(0, 10));
  const page = await openEvents(`${site.address}/api/events`);
  const stoppedAt = performance.now();
  // A Ctrl-C reaches every process of a terminal.
  for (const pid of [...after, site.process.pid ?? 0]) process.kill(pid, 'SIGINT');
  await expect.poll(healthy, { timeout: 10_000 }).toBe(0);
  socket.write(body.slice(10));
  expect(await site.ended).toMatchObject({ code: 0 });
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  expect(received).toMatch(/^HTTP\/1\.1 201 /m);
  await page.closed;
  expect(page.text()).toMatch(/\nretry: \d+\n\n$/);
  socket.destroy();
  expect(await databasesOf(dataDir)).toEqual([]);
}, 240_000);

test('when the first process is killed, the others end with it, and the next site takes the database over', async () => {
  const dataDir = await ground.dataDir();
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', WEB_CONCURRENCY: '2' };
  const site = await ground.serve(settings);
  const workers = await workersOf(site.process.pid);
  expect(workers).toHaveLength(2);
  site.process.kill('SIGKILL');
  await expect.poll(() => workers.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  const next = await ground.serve(settings);
  expect(await askApart(`${next.address}/api/products/git`)).toBe(200);
  next.process.kill('SIGTERM');
  expect(await next.ended).toMatchObject({ code: 0 });
}, 120_000);

test('where the embedded database has too little room for so many processes, the site says so; for fewer it makes do', async () => {
  const dataDir = await ground.dataDir();
  expect(await runCommand(['migrate'], { settings: { DATA_DIR: dataDir } })).toMatchObject({ code: 0 });
  const file = join(dataDir, 'postgres', 'postgresql.conf');
  await writeFile(file, `${await readFile(file, 'utf8')}\nmax_connections = 40\n`);
  const settings = { DATA_DIR: dataDir, LOG_LEVEL: 'error', PORT: '0' };
  const refused = await runCommand(['serve'], { settings: { ...settings, WEB_CONCURRENCY: '16' } });
  expectRefusal(
    refused,
    /^groundswell: WEB_CONCURRENCY: 16 processes open up to 52 connections, and the database takes 37 \(max_connections\)\. .*postgresql\.conf/,
  );
  const site = await ground.serve({ ...settings, WEB_CONCURRENCY: '4', METRICS_TOKEN: TOKEN });
  expect(await metricsOf(site.address)).toMatch(/^groundswell_database_connections\{state="max"\} 20$/m);
  site.process.kill('SIGTERM');
  expect(await site.ended).toMatchObject({ code: 0 });
}, 120_000);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
