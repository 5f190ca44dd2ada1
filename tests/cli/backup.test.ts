import { chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { listActs } from '../../src/core/audit/list-acts.ts';
import { connect } from '../../src/core/database/connect.ts';
import { expectRefusal, Ground, installCommand, letEverybodyRunIt, runCommand } from '../support/command.ts';
import { newVisitor } from '../support/requests.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase } from '../support/test-database.ts';

const ground = new Ground();
const isRoot = process.geteuid?.() === 0;
/** Owns nothing, on every system. */
const nobody = { uid: 65534, gid: 65534 };

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
afterEach(() => ground.clear());

/** Three seconds by the contract, on a machine that has nothing else to do. */
const SOON_MS = 10_000;

type Settings = Record<string, string>;

/** Runs a command that must succeed and say nothing but its answer. */
async function answerOf(settings: Settings, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(parameters, { settings });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

const json = async (settings: Settings, ...parameters: string[]) =>
  JSON.parse(await answerOf(settings, ...parameters, '--json'));

describe('backup and restore', () => {
  test('of a running site, into another that runs: it shows what was restored, and what is written then', async () => {
    const folder = await ground.folder();
    const path = join(folder, 'site.backup');
    const site = await ground.serve({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'warn' });
    const upvote = (address: string) =>
      fetch(`${address}/api/products/git/upvote`, { method: 'PUT', headers: newVisitor() });
    const list = async (address: string) => (await fetch(`${address}/api/products?limit=100`)).json();
    const pageOf = async (address: string) => (await fetch(`${address}/product/git`)).text();
    await upvote(site.address);
    const written = await json({ DATA_DIR: join(folder, 'data') }, 'backup', path);
    expect(written).toMatchObject({ file: path, bytes: (await stat(path)).size, backup: 'groundswell' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const before = await list(site.address);

    const other = { DATA_DIR: await ground.dataDir(), SAMPLE_CATALOGUE: 'off', LOG_LEVEL: 'warn' };
    const second = await ground.serve(other);
    expect(await list(second.address)).toEqual({ items: [], nextCursor: null });
    expect((await fetch(`${second.address}/product/git`)).status).toBe(404);
    const { restored } = await json(other, 'restore', path);
    expect(restored).toMatchObject({ products: 67, product_counts: 67 });
    await expect.poll(() => list(second.address), { timeout: SOON_MS }).toEqual(before);
    const [, count] = /"upvotes":(\d+)/.exec(await pageOf(site.address)) ?? [];
    await expect.poll(() => pageOf(second.address), { timeout: SOON_MS }).toContain(`"upvotes":${count}`);

    // Replacing takes back what was written since; who may not be asked says so.
    expect((await upvote(second.address)).status).toBe(200);
    await expect.poll(() => pageOf(second.address), { timeout: SOON_MS }).toContain(`"upvotes":${Number(count) + 1}`);
    expectRefusal(
      await runCommand(['restore', path], { settings: other }),
      /not empty: it has 67 products\. Add --replace/,
    );
    expect(await answerOf(other, 'restore', '--replace', '--yes', path)).toMatch(
      /^Restored 67 products, \d+ upvotes and 24 comments as of \d{4}-\S+Z\.\n$/,
    );
    await expect.poll(() => list(second.address), { timeout: SOON_MS }).toEqual(before);
    await expect.poll(() => pageOf(second.address), { timeout: SOON_MS }).toContain(`"upvotes":${count}`);
  });

  test('with DATABASE_URL, on a server of any name; both are in the record of what the operator did', async () => {
    const [from, to] = await Promise.all([createTestDatabase(), createTestDatabase({ migrated: false })]);
    const path = join(await ground.folder(), 'site.backup');
    await answerOf({ DATABASE_URL: from.url }, 'sample', 'load');
    expect(await answerOf({ DATABASE_URL: from.url }, 'backup', path)).toMatch(
      /^Backed up 67 products, \d+ upvotes and 24 comments as of \S+\.\n\S+site\.backup {2}[\d,]+ bytes\n$/,
    );
    await json({ DATABASE_URL: to.url }, 'restore', path);
    const idsOf = ({ query }: typeof to) => query('SELECT id FROM products ORDER BY id');
    expect(await idsOf(to)).toEqual(await idsOf(from));
    expect(await listActs(from, { limit: 1 })).toMatchObject([{ act: 'backup', subject: 'site.backup' }]);
    const [restore] = await listActs(to, { limit: 1 });
    expect(restore).toMatchObject({ act: 'restore', subject: 'site.backup', details: { rows: { products: 67 } } });
    await Promise.all([from.drop(), to.drop()]);
  });

  test.runIf(isRoot)('as an ordinary user, with a folder of that user', async () => {
    await letEverybodyRunIt();
    const folder = await ground.folder();
    const path = join(folder, 'site.backup');
    await chown(folder, nobody.uid, nobody.gid);
    const settings = { DATA_DIR: join(folder, 'data'), HOME: folder };
    for (const parameters of [
      ['sample', 'load'],
      ['backup', path],
      ['restore', '--replace', '--yes', path],
    ]) {
      const { code, stderr } = await runCommand(parameters, { settings, account: nobody });
      expect({ code, stderr }, parameters[0]).toEqual({ code: 0, stderr: '' });
    }
    expect(await stat(path)).toMatchObject({ uid: nobody.uid });
    const closed = join(folder, 'closed');
    await mkdir(closed, { mode: 0o755 });
    const refused = await runCommand(['backup', join(closed, 'site.backup')], { settings, account: nobody });
    expectRefusal(refused, /this user may not write into .*closed \(EACCES\)/);
  });
});

describe('backup refuses, with exit code 2 and before a database is started', () => {
  test('a file that is there, unless it is to be replaced', async () => {
    const folder = await ground.folder();
    const settings = { DATA_DIR: join(folder, 'data') };
    const path = join(folder, 'site.backup');
    await writeFile(path, 'mine');
    expectRefusal(await runCommand(['backup', path], { settings }), /site\.backup is there already.*--force/);
    expect(await readdir(folder)).toEqual(['site.backup']);
    await answerOf(settings, 'backup', '--force', path);
    expect((await readFile(path)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect((await readdir(folder)).sort()).toEqual(['data', 'site.backup']);
  });

  test('a folder that is not there, a folder for a file, and no file', async () => {
    const folder = await ground.folder();
    const settings = { DATA_DIR: join(folder, 'data') };
    expectRefusal(
      await runCommand(['backup', join(folder, 'none', 'x')], { settings }),
      /there is no folder .*none: make it/,
    );
    expectRefusal(await runCommand(['backup', '--force', folder], { settings }), /is no file/);
    const { code, stderr } = await runCommand(['backup'], { settings });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/missing required argument 'file'/) });
    expect(await readdir(folder)).toEqual([]);
  });
});

test('a backup that is interrupted ends with 1 and one line, and leaves no file and no database', async () => {
  const folder = await ground.folder();
  const settings = { DATA_DIR: join(folder, 'data'), SAMPLE_CATALOGUE: 'off' };
  await answerOf(settings, 'migrate');
  const connection = await connect({ dataDir: settings.DATA_DIR, mode: 'share', log: silentLog });
  await connection.database.query(
    `INSERT INTO site_facts SELECT 'fact-' || i, repeat(md5(i::text), 40) FROM generate_series(1, 60000) AS i`,
  );
  await connection.close();
  const backup = ground.start(['backup', join(folder, 'site.backup')], { settings });
  await expect
    .poll(() => readdir(folder), { interval: 5, timeout: 30_000 })
    .toContainEqual(expect.stringMatching(/\.partial$/));
  backup.process.kill('SIGINT');
  const { code, stderr } = await backup.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'groundswell: It was interrupted. Nothing was changed.\n' });
  expect(await readdir(folder)).toEqual(['data']);
});
