import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { connect } from '../../src/core/database/connect.ts';
import type { Sql } from '../../src/core/database/database.ts';
import { expectRefusal, Ground, installCommand, runCommand } from '../support/command.ts';
import { silentLog } from '../support/silent-log.ts';

const ground = new Ground();

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A backup of the sample catalogue. */
let whole: Buffer;

beforeAll(installCommand);
beforeAll(async () => {
  const folder = await ground.folder();
  const path = join(folder, 'site.backup');
  await mustRun({ DATA_DIR: join(folder, 'data') }, 'sample', 'load');
  await mustRun({ DATA_DIR: join(folder, 'data') }, 'backup', path);
  whole = await readFile(path);
  await ground.clear();
});
afterEach(() => ground.clear());

async function mustRun(settings: Record<string, string>, ...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(parameters, { settings });
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function withSite<Result>(dataDir: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const connection = await connect({ dataDir, mode: 'share', log: silentLog });
  try {
    return await work(connection.database);
  } finally {
    await connection.close();
  }
}

describe('a file that cannot be restored from: one line, exit code 2, and no database is made', () => {
  test.each<[string, (file: Buffer) => Buffer | undefined, RegExp]>([
    ['cut off', (file) => file.subarray(0, file.length / 2), /is cut off\. Nothing was changed\.$/],
    [
      'damaged',
      (file) => Buffer.concat([file.subarray(0, 200), file.subarray(210)]),
      /cannot be restored from: .*Nothing was changed\.$/,
    ],
    ['something else', () => Buffer.from('id,name\n'), /damaged, or not a backup/],
    ['missing', () => undefined, /there is no such file/],
  ])('%s', async (_, change, reason) => {
    const broken = join(await ground.folder(), 'broken.backup');
    const file = change(whole);
    if (file) await writeFile(broken, file);
    const empty = await ground.dataDir();
    const ended = await runCommand(['restore', '--replace', '--yes', broken], { settings: { DATA_DIR: empty } });
    expectRefusal(ended, reason);
    await expect(readdir(empty)).rejects.toThrow('ENOENT');
  });

  test('--replace without --yes and without a terminal is refused before the file is read', async () => {
    const dataDir = await ground.dataDir();
    const ended = await runCommand(['restore', '--replace', 'no-such-file'], { settings: { DATA_DIR: dataDir } });
    expectRefusal(ended, /no terminal to ask on: add --yes/);
    await expect(readdir(dataDir)).rejects.toThrow('ENOENT');
  });
});

const UPVOTES = 10_000;
const ROUNDS = 4;

test(`kill -9 at ${ROUNDS} moments of a restore leaves the site as it was before or as it is after`, async () => {
  const folder = await ground.folder();
  const settings = { DATA_DIR: join(folder, 'data'), SAMPLE_CATALOGUE: 'off' };
  const path = join(folder, 'many.backup');
  await mustRun(settings, 'sample', 'load');
  const contents = () =>
    withSite(settings.DATA_DIR, async (sql) => {
      const { wrong } = await checkCounts(sql, { after: '', limit: 1_000 });
      const [row] = await sql.query<{ products: number; upvotes: number; comments: number }>(
        `SELECT (SELECT count(*) FROM products)::integer AS products, (SELECT count(*) FROM upvotes)::integer AS upvotes,
           (SELECT count(*) FROM comments)::integer AS comments`,
      );
      return { ...row, wrong };
    });
  await withSite(settings.DATA_DIR, async (sql) => {
    await sql.query(
      "INSERT INTO upvotes (id, product_id, user_session) SELECT gen_random_uuid(), 'git', 'session-' || i FROM generate_series(1, $1::integer) AS i",
      [UPVOTES],
    );
    await sql.query("UPDATE product_counts SET upvotes = upvotes + $1::integer WHERE product_id = 'git'", [UPVOTES]);
  });
  const after = await contents();
  await mustRun(settings, 'backup', path);
  await mustRun(settings, 'sample', 'remove', '--yes');
  await mustRun(settings, 'sample', 'load');
  const before = await contents();
  expect(before).not.toEqual(after);

  // How long one takes here and now; then as many are killed on the way.
  const begin = performance.now();
  await mustRun({ ...settings, DATA_DIR: await ground.dataDir() }, 'restore', path);
  const durationMs = performance.now() - begin;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const restore = ground.start(['restore', '--replace', '--yes', path], { settings });
    await delay((durationMs * round) / (ROUNDS + 1));
    restore.process.kill('SIGKILL');
    await restore.ended;
    expect([before, after]).toContainEqual(await contents());
  }
  await mustRun(settings, 'restore', '--replace', '--yes', path);
  expect(await contents()).toEqual(after);
});
