import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Ground, installCommand, runCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/test-database.ts';

const ground = new Ground();

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
afterEach(() => ground.clear());

test('a site that runs and makes backups: no line has a cross, exit code 0, and the trial leaves nothing', async () => {
  const folder = await ground.folder();
  const settings = { DATA_DIR: join(folder, 'data'), BACKUP_DIR: join(folder, 'backups'), LOG_LEVEL: 'warn' };
  const site = await ground.serve(settings);
  await expect
    .poll(() => readdir(settings.BACKUP_DIR), { timeout: 30_000 })
    .toEqual([expect.stringMatching(/\.backup$/)]);
  const { port } = new URL(site.address);
  const { code, stdout, stderr } = await runCommand(['doctor'], {
    settings: { ...settings, PORT: port, SITE_URL: site.address },
  });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^[✓!] [^:]+: .+\.$/);
  expect(stdout).toMatch(/^✓ backups: .* was restored for trial\.$/m);
  expect(stdout).toMatch(new RegExp(`^✓ site: it runs at ${site.address}\\.$`, 'm'));
  expect(stdout).toMatch(/^✓ SITE_URL: .* answers\.$/m);
  expect(stdout).toMatch(/^✓ counts: of 67 looked at, 0 are wrong\.$/m);
});

test('a server whose counts are wrong, behind a proxy that is not trusted: exit code 1, what to do, and no password', async () => {
  const database = await createTestDatabase();
  await runCommand(['sample', 'load'], { settings: { DATABASE_URL: database.url } });
  await database.query("UPDATE product_counts SET upvotes = 999 WHERE product_id = 'git'");
  const token = 'a-secret-of-this-test';
  const settings = { DATABASE_URL: database.url, SITE_URL: 'https://site.invalid', METRICS_TOKEN: token };
  const { code, stdout, stderr } = await runCommand(['doctor', '--json'], { settings });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const { healthy, findings } = JSON.parse(stdout);
  expect(healthy).toBe(false);
  const of = (check: string) => findings.find((finding: { check: string }) => finding.check === check);
  expect(of('counts')).toMatchObject({ status: 'fault', advice: 'Run groundswell counts check --repair.' });
  expect(of('TRUST_PROXY')).toMatchObject({ status: 'fault', advice: expect.stringContaining('loopback') });
  expect(of('SITE_URL')).toMatchObject({ status: 'warning', message: expect.stringContaining('cannot be reached') });
  expect(of('backups')).toMatchObject({ status: 'warning' });
  const { password } = new URL(database.url);
  for (const secret of [password, token].filter((text) => text !== '')) expect(stdout).not.toContain(secret);
  await database.drop();
});

test('a database that cannot be had, and a folder that others can enter: a cross each, and the rest is looked at all the same', async () => {
  const away = await runCommand(['doctor'], { settings: { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/site' } });
  expect(away).toMatchObject({ code: 1, stderr: '' });
  expect(away.stdout).toMatch(
    /^✗ database: DATABASE_URL: 127\.0\.0\.1:1\/site cannot be used: .*ECONNREFUSED.*\. Check the address/m,
  );
  expect(away.stdout).toMatch(/^✓ site: it does not run/m);
  expect(away.stdout).not.toContain('hunter2');

  const DATA_DIR = await ground.dataDir();
  const none = await runCommand(['doctor'], { settings: { DATA_DIR } });
  expect(none.stdout).toMatch(/^! database: there is none in .* yet\. Start the site/m);
  await expect(readdir(DATA_DIR)).rejects.toThrow('ENOENT');
  await runCommand(['migrate'], { settings: { DATA_DIR } });
  await chmod(join(DATA_DIR, 'postgres'), 0o755);
  const open = await runCommand(['doctor'], { settings: { DATA_DIR } });
  expect(open).toMatchObject({ code: 1, stderr: '' });
  expect(open.stdout).toMatch(/^✗ data folder: .* has the mode 755\. Run chmod 700 /m);
});

test('settings with faults: each is a line, and nothing else is looked at', async () => {
  const { code, stdout } = await runCommand(['doctor'], {
    settings: { PORT: 'x', DATABASE_URL: 'mysql://me:hunter2@db/x' },
  });
  expect(code).toBe(1);
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^✗ settings: PORT: 'x' is not a port/),
    expect.stringMatching(/^✗ settings: DATABASE_URL: this is not a PostgreSQL URL/),
  ]);
  expect(stdout).not.toContain('hunter2');
});
