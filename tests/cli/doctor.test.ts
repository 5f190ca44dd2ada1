import { chmod, mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { CommandHarness, runCommand, UNPRIVILEGED } from '../support/command.ts';
import { copySampleSite, installCommand, installForOtherAccounts } from '../support/installed-command.ts';
import { outputOf, runProgram } from '../support/program.ts';
import { createTestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();

beforeAll(installCommand);
afterEach(() => harness.clear());

test('for a healthy site with backups, doctor exits 0, and reports no failure and a passed trial restore', async () => {
  const dataDir = await harness.sampleDataDir();
  const settings = { DATA_DIR: dataDir, BACKUP_DIR: join(await harness.folder(), 'backups'), LOG_LEVEL: 'warn' };
  const site = await harness.serve(settings);
  await expect.poll(() => readdir(settings.BACKUP_DIR)).toEqual([expect.stringMatching(/\.backup$/)]);
  const { port } = new URL(site.address);
  const { code, stdout, stderr } = await runCommand(['doctor'], {
    settings: { ...settings, PORT: port, SITE_URL: site.address },
  });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^[✓!] [^:]+: .+\.$/);
  expect(stdout).toMatch(/^✓ backups: .* passed a trial restore\.$/m);
  expect(stdout).toMatch(new RegExp(`^✓ site: running at ${site.address}\\.$`, 'm'));
  expect(stdout).toMatch(/^✓ SITE_URL: .* is reachable\.$/m);
  expect(stdout).toMatch(/^✓ counts: wrong for 0 of 67 checked products\.$/m);
});

test('for wrong counts and an untrusted proxy, doctor exits 1 with advice, without printing secrets', async () => {
  const DATA_DIR = await harness.folder();
  const database = await createTestDatabase();
  await runProgram(['sample', 'load'], { DATABASE_URL: database.url });
  await database.query("UPDATE product_counts SET upvotes = 999 WHERE product_id = 'git'");
  const token = 'a-secret-of-this-test';
  const settings = { DATABASE_URL: database.url, DATA_DIR, SITE_URL: 'https://site.invalid', METRICS_TOKEN: token };
  const { code, stdout, stderr } = await runProgram(['doctor', '--json'], settings);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const { healthy, findings } = JSON.parse(stdout);
  expect(healthy).toBe(false);
  const of = (check: string) => findings.find((finding: { check: string }) => finding.check === check);
  // DATA_DIR contains the pictures.
  expect(of('disk of DATA_DIR')).toMatchObject({ message: expect.stringContaining(` at ${DATA_DIR}`) });
  expect(of('counts')).toMatchObject({ status: 'failed', advice: 'Run `groundswell counts check --repair`.' });
  expect(of('TRUST_PROXY')).toMatchObject({ status: 'failed', advice: expect.stringContaining('loopback') });
  expect(of('SITE_URL')).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('site.invalid/healthz failed'),
  });
  expect(of('backups')).toMatchObject({ status: 'warning' });
  const { password } = new URL(database.url);
  for (const secret of [password, token].filter((text) => text !== '')) expect(stdout).not.toContain(secret);
  await database.drop();
});

test('doctor reports an unreachable database, a data folder that others can read, or a wrong password, and still runs the other checks', async () => {
  const away = await runProgram(['doctor'], { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/site' });
  expect(away).toMatchObject({ code: 1, stderr: '' });
  expect(away.stdout).toMatch(
    /^✗ database: DATABASE_URL: 127\.0\.0\.1:1\/site cannot be used: .*ECONNREFUSED.*\. Check the address/m,
  );
  expect(away.stdout).toMatch(/^✓ site: not running/m);
  expect(away.stdout).not.toContain('hunter2');

  const DATA_DIR = await harness.dataDir();
  const none = await runProgram(['doctor'], { DATA_DIR });
  expect(none.stdout).toMatch(/^! database: .* contains no database yet\. Start the site/m);
  await expect(readdir(DATA_DIR)).rejects.toThrow('ENOENT');
  await copySampleSite(DATA_DIR);
  await chmod(join(DATA_DIR, 'postgres'), 0o755);
  const open = await runProgram(['doctor'], { DATA_DIR });
  expect(open).toMatchObject({ code: 1, stderr: '' });
  expect(open.stdout).toMatch(/^✗ data folder: .* has the mode 755\. Run `chmod 700 /m);
  await chmod(join(DATA_DIR, 'postgres'), 0o700);
  await writeFile(join(DATA_DIR, 'postgres/groundswell.password'), 'wrong');
  const refused = await runProgram(['doctor'], { DATA_DIR });
  expect(refused.stdout).toMatch(/^✗ database: password authentication failed for user "groundswell"\. Correct this/m);
  expect(refused.stdout).toMatch(/^✓ site: not running/m);
});

test('doctor creates no database in a data folder in which the first start failed before it created one', async () => {
  const DATA_DIR = await harness.dataDir();
  await mkdir(join(DATA_DIR, 'postgres.owner'), { recursive: true });
  const { stdout } = await runProgram(['doctor'], { DATA_DIR });
  expect(stdout).toMatch(/^! database: .* contains no database yet\. Start the site/m);
  expect(await readdir(DATA_DIR)).toEqual(['postgres.owner']);
});

test('without a usable database, doctor verifies the newest backup', async () => {
  const DATA_DIR = await harness.sampleDataDir();
  const BACKUP_DIR = await harness.folder();
  const backupsFor = async (dataDir: string) =>
    /^. backups: .*/m.exec((await runProgram(['doctor'], { DATA_DIR: dataDir, BACKUP_DIR })).stdout)?.[0];
  const empty = await harness.dataDir();
  expect(await backupsFor(empty)).toBeUndefined();
  const path = join(BACKUP_DIR, 'groundswell-3f9a1c2e-20261120T221834Z.backup');
  outputOf(await runProgram(['backup', path], { DATA_DIR }));
  expect(await backupsFor(empty)).toMatch(/^✓ .* is complete \(no trial restore\)\.$/);
  await writeFile(join(DATA_DIR, 'postgres/groundswell.password'), 'wrong');
  expect(await backupsFor(DATA_DIR)).toMatch(/^✓ .* is complete \(no trial restore\)\.$/);
  await truncate(path, 1_000);
  expect(await backupsFor(empty)).toMatch(/^✗ .* it is truncated\./);
});

test('doctor run by a user who may not enter the data folder does not report that the folder has no database', async () => {
  await installForOtherAccounts();
  const DATA_DIR = await harness.sampleDataDir();
  await chmod(DATA_DIR, 0o000);
  // Runs as another user, because root may enter every folder.
  const { code, stdout } = await runCommand(['doctor'], { settings: { DATA_DIR }, account: UNPRIVILEGED });
  await chmod(DATA_DIR, 0o755);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ data folder: .*postgres cannot be read \(EACCES\)\. Run this command as the user/m);
  expect(stdout).toMatch(/^✗ database: Cannot write to the data folder .* \(EACCES\): /m);
  expect(stdout).not.toContain('no database yet');
});

test('doctor lists invalid settings, one per line, and then runs no other check', async () => {
  const { code, stdout } = await runProgram(['doctor'], { PORT: 'x', DATABASE_URL: 'mysql://me:hunter2@db/x' });
  expect(code).toBe(1);
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^✗ settings: PORT: 'x' is not a port/),
    expect.stringMatching(/^✗ settings: DATABASE_URL: this is not a PostgreSQL URL/),
  ]);
  expect(stdout).not.toContain('hunter2');
});

test('the help of doctor says which backups get a trial restore', async () => {
  const { stdout } = await runProgram(['doctor', '--help'], {});
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('into a temporary schema, if the backup has at most 200,000 rows,');
});
