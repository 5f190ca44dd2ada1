import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { expectRefusal, Ground, installCommand, letEverybodyRunIt, runCommand } from '../support/command.ts';
import { runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const ground = new Ground();
let database: TestDatabase;
let folder: string;

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query("INSERT INTO products (id, name) VALUES ('a', 'Ärger 🌊')");
  await database.query(
    "INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'a', 'session-1')",
  );
});
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await ground.folder();
});
afterEach(() => ground.clear());

function runExport(...parameters: string[]) {
  return runProgram(['export', ...parameters], { DATABASE_URL: database.url });
}

test('an embedded site that takes an export in gives the same bytes again', async () => {
  const [path, again] = [join(folder, 'site.jsonl'), join(folder, 'again.jsonl')];
  const settings = { DATA_DIR: await ground.dataDir() };
  const done = await runExport(path, '--json');
  expect(JSON.parse(done.stdout)).toEqual({ file: path, rows: { products: 1, upvotes: 1, comments: 0 } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const taken = await runCommand(['import', path, '--json'], { settings });
  expect(JSON.parse(taken.stdout)).toMatchObject({ created: 1, updated: 0, unchanged: 0 });
  const { code, stdout, stderr } = await runCommand(['export', again], { settings });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`Exported 1 products, 1 upvotes, 0 comments.\n${again}\n`);
  expect(await readFile(again, 'utf8')).toBe(await readFile(path, 'utf8'));
  const twice = await runCommand(['import', path], { settings });
  expect(twice.stdout).toContain('products: 0 created, 0 updated, 1 unchanged.\nupvotes: 0 created');
});

test('- is standard output, and --tables chooses', async () => {
  const { code, stdout, stderr } = await runExport('-', '--tables', 'products');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => Object.keys(line))).toEqual([['groundswell'], ['products'], ['end']]);
  expect(lines[1].products).toMatchObject({ id: 'a', name: 'Ärger 🌊' });
  expect(stdout).not.toContain('session-1');
});

test('a file that is there stays, unless --force says otherwise; nothing else is left in the folder', async () => {
  const path = join(folder, 'site.jsonl');
  await writeFile(path, 'mine');
  expectRefusal(await runExport(path), /is there already: .*--force/);
  expect(await readFile(path, 'utf8')).toBe('mine');
  expect((await runExport(path, '--force')).code).toBe(0);
  expect(await readFile(path, 'utf8')).toContain('"end"');
  expect(await readdir(folder)).toEqual(['site.jsonl']);
});

test('what it cannot write, or does not know, is refused with 2 and one line', async () => {
  await mkdir(join(folder, 'sub'));
  expectRefusal(await runExport(join(folder, 'missing', 'site.jsonl')), /there is no folder .*missing/);
  expectRefusal(await runExport(join(folder, 'sub')), /is no file/);
  expectRefusal(await runExport('-', '--json'), /--json has no place/);
  const unknown = await runExport(join(folder, 'x.jsonl'), '--tables', 'products,votes');
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("There is no table 'votes'") });
  expect(await readdir(folder)).toEqual(['sub']);
});

test('a folder that this user may not write into is named, and left as it is', async () => {
  await letEverybodyRunIt();
  await chmod(folder, 0o555);
  // Root may write everywhere.
  const account = process.getuid?.() === 0 ? { account: { uid: 65_534, gid: 65_534 } } : {};
  const settings = { DATABASE_URL: database.url, HOME: folder };
  const refused = await runCommand(['export', join(folder, 'site.jsonl')], { settings, ...account });
  expectRefusal(refused, /this user may not write site\.jsonl into .*\(EACCES\)/);
  expect(await readdir(folder)).toEqual([]);
});
