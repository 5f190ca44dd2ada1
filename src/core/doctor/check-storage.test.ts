import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkDisk } from './check-storage.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'groundswell-test-')));
});
afterEach(() => rm(folder, { recursive: true }));

/** Checks the disk of a data folder whose database is on a nearly full disk. */
async function adviceFor(dataDir: string): Promise<string | undefined> {
  const measured = join(dataDir, 'postgres');
  const finding = await checkDisk('DATA_DIR', dataDir, { measured, measure: async () => ({ free: 1, all: 2 ** 40 }) });
  expect(finding).toMatchObject({ status: 'failed', message: expect.stringMatching(/ at \S+\/postgres$/) });
  return finding.advice;
}

test('if the disk of an embedded database is nearly full, doctor advises to copy the whole data folder', async () => {
  const dataDir = join(folder, 'data');
  await mkdir(join(dataDir, 'postgres'), { recursive: true });
  expect(await adviceFor(dataDir)).toBe(
    `Free some space there, or stop the site, copy ${dataDir} to a larger disk, and set DATA_DIR to the copy.`,
  );
});

test('if a link leads to an embedded database on a nearly full disk, doctor advises to copy the database only', async () => {
  const [dataDir, elsewhere] = [join(folder, 'data'), join(folder, 'data-2')];
  for (const path of [dataDir, elsewhere]) await mkdir(path);
  await symlink(elsewhere, join(dataDir, 'postgres'));
  expect(await adviceFor(dataDir)).toBe(
    `Free some space there, or stop the site, copy ${elsewhere} to a larger disk, and replace it with a link to the copy.`,
  );
});
