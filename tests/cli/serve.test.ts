import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/core/database/connect.ts';
import { CommandHarness, databasePids, expectRefusal, runCommand, signalIfAlive } from '../support/command.ts';
import { installCommand } from '../support/installed-command.ts';
import { newVisitor } from '../support/requests.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

const LOG_LEVEL = 'warn';

async function upvotesOf(address: string, id: string): Promise<number> {
  const response = await fetch(`${address}/api/products/${id}`);
  return (await response.json()).product.upvotes;
}

async function upvote(address: string, id: string): Promise<number> {
  const response = await fetch(`${address}/api/products/${id}/upvote`, { method: 'PUT', headers: newVisitor() });
  return (await response.json()).upvotes;
}

/** Returns PostgreSQL's system identifier, which is different after each initdb. */
async function clusterIdentity(dataDir: string): Promise<unknown> {
  const connection = await connect({ dataDir, mode: 'share', log: silentLog });
  try {
    return await connection.database.query('SELECT system_identifier::text FROM pg_control_system()');
  } finally {
    await connection.close();
  }
}

describe('serve', () => {
  test('prints the address, the location of the data and the number of products, and serves the site', async () => {
    const dataDir = await harness.dataDir();
    const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL });
    expect(site.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await site.waitForOutput(new RegExp(`Data +${join(dataDir, 'postgres')}\n`));
    expect(site.products).toBeGreaterThanOrEqual(48);

    const home = await fetch(site.address);
    expect([home.status, home.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const html = await home.text();
    expect(html).toContain('Top Products Launching Today');
    // Every file that the page references exists.
    const files = [...html.matchAll(/(?:src|href)="(\/(?:assets|pictures)\/[^"]+)"/g)].map(([, path]) => path);
    expect(files.length).toBeGreaterThan(3);
    for (const path of new Set(files)) expect((await fetch(site.address + path)).status, path).toBe(200);
    const missing = await fetch(`${site.address}/nothing`, { method: 'HEAD' });
    expect([missing.status, await missing.text()]).toEqual([404, '']);
    // Other tests run the sources, from which the bundler once removed this check.
    expect((await fetch(`${site.address}/api/products?q=%ff`)).status).toBe(400);

    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s stops all processes and exits with code 0, even if a browser has a connection open',
    async (signal) => {
      const dataDir = await harness.sampleDataDir();
      const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'info' });
      expect(await databasePids(dataDir)).not.toEqual([]);
      // `fetch` keeps its connection alive.
      await (await fetch(`${site.address}/healthz`)).text();
      site.process.kill(signal);
      const { code, signal: killedBy, stdout } = await site.exited;
      expect({ code, killedBy }).toEqual({ code: 0, killedBy: null });
      expect(stdout).toContain('"msg":"Stopped"');
      expect(await databasePids(dataDir)).toEqual([]);
    },
  );

  test('an invalid brand is refused before anything starts, with all reasons', async () => {
    const dataDir = await harness.dataDir();
    const serve = (settings: Record<string, string>) =>
      runCommand(['serve'], { settings: { DATA_DIR: dataDir, ...settings } });
    const colour = await serve({ SITE_ACCENT: '#ffcc00' });
    expect(colour).toMatchObject({
      code: 2,
      stderr:
        'groundswell: SITE_ACCENT: #ffcc00 has a contrast of 1.5:1 on white; 4.5:1 is needed, so choose a darker colour\n',
    });
    const files = await serve({ SITE_LOGO: '/nowhere/logo.svg', SITE_ARTICLES: '/nowhere/articles.json' });
    expect(files).toMatchObject({
      code: 2,
      stderr:
        'groundswell: SITE_LOGO: /nowhere/logo.svg cannot be used: there is no such file\ngroundswell: SITE_ARTICLES: /nowhere/articles.json cannot be used: there is no such file\n',
    });
    expect(await readdir(dataDir).catch(() => [])).toEqual([]);
  });

  test('SIGTERM during the start stops all processes and exits with code 0', async () => {
    const dataDir = await harness.dataDir();
    const site = harness.start(['serve'], { settings: { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'info' } });
    await site.waitForOutput(/Creating the embedded database/);
    site.process.kill('SIGTERM');
    expect(await site.exited).toMatchObject({ code: 0, signal: null });
    expect(await databasePids(dataDir)).toEqual([]);
  });

  test('a second start reuses the database and does not load the sample again', async () => {
    const settings = { DATA_DIR: await harness.sampleDataDir(), LOG_LEVEL: 'info' };
    const first = await harness.serve(settings);
    const upvotes = await upvote(first.address, 'git');
    const identity = await clusterIdentity(settings.DATA_DIR);
    // Existing data folders contain a password file with this name, so a new version must not expect another name.
    expect(await readdir(join(settings.DATA_DIR, 'postgres'))).toContain('groundswell.password');
    first.process.kill('SIGTERM');
    await first.exited;

    const second = await harness.serve(settings);
    expect(second.products).toBe(first.products);
    expect(await upvotesOf(second.address, 'git')).toBe(upvotes);
    expect(await clusterIdentity(settings.DATA_DIR)).toEqual(identity);
    second.process.kill('SIGTERM');
    const { stdout, stderr } = await second.exited;
    expect(stdout).not.toMatch(/Creating the embedded database|Migration applied/);
    expect(stderr).toBe('');
  });

  test('serve on a data folder in use exits 2, names the process that uses the folder, and does not affect that process', async () => {
    const settings = { DATA_DIR: await harness.sampleDataDir(), LOG_LEVEL };
    const first = await harness.serve(settings);
    const second = await runCommand(['serve'], { settings: { PORT: '0', ...settings } });
    expectRefusal(
      second,
      new RegExp(`${settings.DATA_DIR} is in use by process ${first.process.pid} \\(${first.address}\\).*DATA_DIR`),
    );
    expect((await fetch(`${first.address}/readyz`)).status).toBe(200);
  });

  test('of two processes that start simultaneously on a new data folder, one serves, and the other exits with a message', async () => {
    const settings = { PORT: '0', DATA_DIR: await harness.dataDir(), LOG_LEVEL };
    const sites = [0, 1].map(() => harness.start(['serve'], { settings }));
    const loser = await Promise.race(sites.map(({ exited }) => exited));
    expectRefusal(loser, /is in use by process \d+/);
    const winner = sites.find(({ process }) => process.exitCode === null);
    const [, address] = (await winner?.waitForOutput(/Address +(http:\S+)\n/)) ?? [];
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });

  test('a first start with SAMPLE_CATALOGUE=off serves an empty list, and so does a later one without this setting', async () => {
    const settings = { DATA_DIR: await harness.dataDir(), LOG_LEVEL };
    const site = await harness.serve({ ...settings, SAMPLE_CATALOGUE: 'off' });
    expect(site.products).toBe(0);
    expect(await (await fetch(`${site.address}/api/products`)).json()).toEqual({ items: [], nextCursor: null });
    site.process.kill('SIGTERM');
    await site.exited;
    expect((await harness.serve(settings)).products).toBe(0);
  });

  test('with DATABASE_URL the site uses that server, prints it without the password, and loads no sample', async () => {
    const database = await createTestDatabase({ migrated: false });
    const { host, password, pathname } = new URL(database.url);
    const dataDir = await harness.dataDir();
    const site = await harness.serve({ DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'info' });
    await site.waitForOutput(new RegExp(`Data +.*${pathname}\n`));
    expect(site.products).toBe(0);
    site.process.kill('SIGTERM');
    const { code, stdout, stderr } = await site.exited;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    if (host !== '') expect(stdout).toContain(host);
    if (password !== '') expect(stdout).not.toContain(password);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
    await database.drop();
  });

  test('a site starts while its database is read-only, and serves reads', async () => {
    const database = await createTestDatabase();
    const settings = { DATABASE_URL: database.url, DATA_DIR: await harness.dataDir(), LOG_LEVEL };
    const first = await harness.serve(settings);
    first.process.kill('SIGTERM');
    await first.exited;
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const site = await harness.serve(settings);
    expect(await (await fetch(`${site.address}/api/products`)).json()).toEqual({ items: [], nextCursor: null });
    await harness.clear();
    await database.drop();
  });
});

describe('a killed site', () => {
  test('loses no acknowledged writes, even if its database is killed as well', async () => {
    const settings = { DATA_DIR: await harness.sampleDataDir(), LOG_LEVEL };
    const first = await harness.serve(settings);
    const upvotes = await upvote(first.address, 'git');
    first.process.kill('SIGKILL');
    await first.exited;
    const second = await harness.serve(settings);
    expect(second.products).toBe(first.products);
    expect(await upvotesOf(second.address, 'git')).toBe(upvotes);
    expect(await upvote(second.address, 'git')).toBe(upvotes + 1);

    const databases = await databasePids(settings.DATA_DIR);
    second.process.kill('SIGKILL');
    for (const pid of databases) signalIfAlive(pid, 'SIGKILL');
    await second.exited;
    const third = await harness.serve(settings);
    expect(await upvotesOf(third.address, 'git')).toBe(upvotes + 1);
  });

  test.each([/Creating the embedded database/, /Migration applied/])(
    'starts again, even if it was killed during its first start (%s)',
    async (moment) => {
      const settings = { PORT: '0', DATA_DIR: await harness.dataDir(), LOG_LEVEL: 'info' };
      const first = harness.start(['serve'], { settings });
      await first.waitForOutput(moment);
      first.process.kill('SIGKILL');
      await first.exited;
      const second = await harness.serve(settings);
      expect(second.products).toBeGreaterThanOrEqual(48);
      expect((await fetch(`${second.address}/readyz`)).status).toBe(200);
      second.process.kill('SIGTERM');
      expect(await second.exited).toMatchObject({ code: 0 });
      expect(await databasePids(settings.DATA_DIR)).toEqual([]);
    },
  );
});
