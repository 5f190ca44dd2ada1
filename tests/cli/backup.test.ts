import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../src/core/audit/audit-log.ts';
import { connect } from '../../src/core/database/connect.ts';
import { blockedStatements } from '../support/blocked-statements.ts';
import {
  CommandHarness,
  databasePids,
  expectFailure,
  expectRefusal,
  NOBODY,
  runCommand,
  UNPRIVILEGED,
} from '../support/command.ts';
import { copySampleSite, installCommand, installForOtherAccounts } from '../support/installed-command.ts';
import { jsonOf, outputOf, runProgram } from '../support/program.ts';
import { newVisitor } from '../support/requests.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();
const isRoot = process.geteuid?.() === 0;

beforeAll(installCommand);
afterEach(() => harness.clear());

type Settings = Record<string, string>;

const run = async (settings: Settings, ...parameters: string[]) => outputOf(await runProgram(parameters, settings));

describe('a backup and its restore', () => {
  test('a backup of a running site can be restored into another running site, which shows it and accepts writes', async () => {
    const dataDir = await harness.sampleDataDir();
    const path = join(await harness.folder(), 'site.backup');
    const site = await harness.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
    const upvote = (address: string) =>
      fetch(`${address}/api/products/git/upvote`, { method: 'PUT', headers: newVisitor() });
    const list = async (address: string) => (await fetch(`${address}/api/products?limit=100`)).json();
    const pageOf = async (address: string) => (await fetch(`${address}/product/git`)).text();
    await upvote(site.address);
    const written = await jsonOf(['backup', path], { DATA_DIR: dataDir });
    expect(written).toMatchObject({ file: path, bytes: (await stat(path)).size, backup: 'groundswell' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await list(site.address);

    const other = { DATA_DIR: await harness.dataDir(), SAMPLE_CATALOGUE: 'off', LOG_LEVEL: 'warn' };
    const second = await harness.serve(other);
    expect(await list(second.address)).toEqual({ items: [], nextCursor: null });
    expect((await fetch(`${second.address}/product/git`)).status).toBe(404);
    const { restored } = await jsonOf<{ restored: object }>(['restore', path], other);
    expect(restored).toMatchObject({ products: 67, product_counts: 67 });
    await expect.poll(() => list(second.address)).toEqual(before);
    const [, count] = /"upvotes":(\d+)/.exec(await pageOf(site.address)) ?? [];
    await expect.poll(() => pageOf(second.address)).toContain(`"upvotes":${count}`);

    // `--replace` discards later writes. Without a terminal, the command requires `--yes`.
    expect((await upvote(second.address)).status).toBe(200);
    await expect.poll(() => pageOf(second.address)).toContain(`"upvotes":${Number(count) + 1}`);
    expectRefusal(await runProgram(['restore', path], other), /not empty: it has 67 products.*Add --replace/);
    expect(await run(other, 'restore', '--replace', '--yes', path)).toMatch(
      /^Restored 67 products, \d+ upvotes and 24 comments as of \d{4}-\S+Z\.\n$/,
    );
    await expect.poll(() => list(second.address)).toEqual(before);
    await expect.poll(() => pageOf(second.address)).toContain(`"upvotes":${count}`);
  });

  test('with DATABASE_URL, both commands use that database and its audit log', async () => {
    const [from, to] = await Promise.all([createTestDatabase(), createTestDatabase({ migrated: false })]);
    const path = join(await harness.folder(), 'site.backup');
    await runProgram(['sample', 'load'], { DATABASE_URL: from.url });
    const backup = await runProgram(['backup', path], { DATABASE_URL: from.url });
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    expect(backup.stdout).toMatch(
      /^Backed up 67 products, \d+ upvotes and 24 comments as of \S+, with 0 pictures\.\n\S+site\.backup {2}[\d,]+ bytes\n$/,
    );
    await jsonOf(['restore', path], { DATABASE_URL: to.url });
    const idsOf = ({ query }: typeof to) => query('SELECT id FROM products ORDER BY id');
    expect(await idsOf(to)).toEqual(await idsOf(from));
    expect(await listAudit(from, { limit: 1 })).toMatchObject([{ action: 'backup', target: 'site.backup' }]);
    const [restore] = await listAudit(to, { limit: 1 });
    expect(restore).toMatchObject({ action: 'restore', target: 'site.backup', details: { rows: { products: 67 } } });
    expect(await run({ DATABASE_URL: to.url }, 'log')).toMatch(/ restored [1-9][\d,]+ rows from site\.backup\.$/m);
    await Promise.all([from.drop(), to.drop()]);
  });

  test('a read-only database is backed up, with a warning that the audit log lacks the backup', async () => {
    const database = await createTestDatabase();
    const folder = await harness.folder();
    await database.query(
      `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    const { code, stderr } = await runProgram(['backup', join(folder, 'site.backup')], { DATABASE_URL: database.url });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('Warning: this backup is not in the audit log: The database accepts no changes'),
    });
    expect(await readdir(folder)).toEqual(['site.backup']);
    await database.drop();
  });

  test.runIf(isRoot)('both commands work for an unprivileged user in a folder of that user', async () => {
    await installForOtherAccounts();
    const folder = await harness.folder();
    const path = join(folder, 'site.backup');
    await chown(folder, NOBODY.uid, NOBODY.gid);
    const settings = { DATA_DIR: join(folder, 'data'), HOME: folder };
    for (const parameters of [
      ['sample', 'load'],
      ['backup', path],
      ['restore', '--replace', '--yes', path],
    ]) {
      const { code, stderr } = await runCommand(parameters, { settings, account: NOBODY });
      expect({ code, stderr }, parameters[0]).toEqual({ code: 0, stderr: '' });
    }
    expect(await stat(path)).toMatchObject({ uid: NOBODY.uid });
    const closed = join(folder, 'closed');
    await mkdir(closed, { mode: 0o755 });
    const refused = await runCommand(['backup', join(closed, 'site.backup')], { settings, account: NOBODY });
    expectRefusal(refused, /Cannot write .* into .*closed \(EACCES\)/);
  });
});

describe('backup', () => {
  test('exits 2 before it starts a database if the file exists, unless --force is given', async () => {
    const folder = await harness.folder();
    const settings = { DATA_DIR: join(folder, 'data') };
    const path = join(folder, 'site.backup');
    await writeFile(path, 'mine');
    expectRefusal(await runProgram(['backup', path], settings), /site\.backup exists.*--force/);
    expect(await readdir(folder)).toEqual(['site.backup']);
    await copySampleSite(settings.DATA_DIR);
    await run(settings, 'backup', '--force', path);
    expect((await readFile(path)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect((await readdir(folder)).sort()).toEqual(['data', 'site.backup']);
  });

  test('exits 2 before it starts a database if the folder is missing, the file is a folder or standard output, or no file is named', async () => {
    const folder = await harness.folder();
    const settings = { DATA_DIR: join(folder, 'data') };
    expectRefusal(
      await runProgram(['backup', join(folder, 'none', 'x')], settings),
      /There is no folder .*none\. Create it/,
    );
    expectRefusal(await runProgram(['backup', '--force', folder], settings), /is not a file/);
    expectRefusal(await runProgram(['backup', '-'], settings), /cannot be written to standard output/);
    const { code, stderr } = await runProgram(['backup'], settings);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/missing required argument 'file'/) });
    expect(await readdir(folder)).toEqual([]);
  });
});

test('a backup by a user who may not read the pictures of the site fails, and names their folder', async () => {
  await installForOtherAccounts();
  const folder = await harness.folder();
  const pictures = join(folder, 'data', 'images');
  // Runs as another user, because root may read everything.
  if (UNPRIVILEGED) await chown(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const run = (...parameters: string[]) =>
    runCommand(parameters, {
      settings: { DATA_DIR: dirname(pictures), HOME: folder },
      account: UNPRIVILEGED,
    });
  expect(await run('sample', 'load')).toMatchObject({ code: 0 });
  await mkdir(pictures, { recursive: true });
  await chmod(pictures, 0o000);
  const failed = await run('backup', join(folder, 'site.backup'));
  await chmod(pictures, 0o755);
  expectFailure(failed, 1, /^groundswell: EACCES: permission denied, scandir '.*images'$/);
  expect(await readdir(folder)).toEqual(['data']);
});

test('a backup without a database exits 2, and creates neither a database nor a file', async () => {
  const folder = await harness.folder();
  const result = await runProgram(['backup', join(folder, 'site.backup')], { DATA_DIR: join(folder, 'data') });
  expectRefusal(result, /data contains no database\. .*DATA_DIR and DATABASE_URL/);
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ['backup', 'site.backup'],
  ['export', 'products.csv'],
])(
  '%s deletes the partial file of a killed command with the same path, but no file that may be in use',
  async (name, file) => {
    const database = await createTestDatabase();
    const folder = await harness.folder();
    const partial = (path: string) => `${path}.${randomUUID()}.partial`;
    const [killed, ...kept] = [partial(file), partial(file), partial(`other-${file}`), `${file}.mine.partial`];
    for (const each of [killed, ...kept]) await writeFile(join(folder, each), '');
    const old = new Date(Date.now() - 2 * 60 * 60_000);
    for (const each of [killed, ...kept.slice(1)]) await utimes(join(folder, each), old, old);
    expect(await runProgram([name, join(folder, file)], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
    expect((await readdir(folder)).sort()).toEqual([file, ...kept].sort());
    await database.drop();
  },
);

test.each([
  ['backup', 'site.backup'],
  ['export', 'products.csv'],
])('%s without --force does not replace a file that appears while it runs', async (name, file) => {
  const database = await createTestDatabase();
  const folder = await harness.folder();
  const path = join(folder, file);
  const { running } = await database.transaction(async (sql) => {
    await sql.query('LOCK TABLE products');
    const running = runProgram([name, path], { DATABASE_URL: database.url });
    await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    await writeFile(path, 'mine');
    return { running };
  });
  expectRefusal(await running, /exists\. .*--force/);
  expect(await readFile(path, 'utf8')).toBe('mine');
  expect(await readdir(folder)).toEqual([file]);
  await database.drop();
});

test('an interrupted backup exits 130 with one line, and leaves no file and no running database', async () => {
  const settings = { DATA_DIR: await harness.sampleDataDir() };
  const folder = dirname(settings.DATA_DIR);
  const connection = await connect({ dataDir: settings.DATA_DIR, mode: 'share', log: silentLog });
  // Slows the backup down: converting each of the 67 products to JSON takes a second.
  await connection.database.query(
    `CREATE TYPE slow AS ENUM ('slow');
     CREATE FUNCTION json_of(slow) RETURNS json LANGUAGE sql AS 'SELECT to_json(pg_sleep(1)::text)';
     CREATE CAST (slow AS json) WITH FUNCTION json_of(slow);
     ALTER TABLE products ADD COLUMN slow slow DEFAULT 'slow'`,
  );
  await connection.close();
  const backup = harness.start(['backup', join(folder, 'site.backup')], { settings });
  await expect.poll(() => readdir(folder), { interval: 5 }).toContainEqual(expect.stringMatching(/\.partial$/));
  backup.process.kill('SIGINT');
  const { code, stderr } = await backup.exited;
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'groundswell: Interrupted.\n' });
  expect(await readdir(folder)).toEqual(['data']);
  expect(await databasePids(settings.DATA_DIR)).toEqual([]);
});
