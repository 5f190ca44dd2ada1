import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CommandHarness, expectRefusal, runCommand, UNPRIVILEGED } from '../support/command.ts';
import { installCommand, installForOtherAccounts } from '../support/installed-command.ts';
import { runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();
let database: TestDatabase;
let folder: string;

beforeAll(installCommand);
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query("INSERT INTO products (id, name, tags) VALUES ('a', 'Ärger 🌊', ARRAY['x', 'y, z'])");
  await database.query("INSERT INTO products (id, created_at) VALUES ('later', '2099-01-01Z')");
  await database.query(
    "INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'a', 'session-1')",
  );
  await database.query(
    "INSERT INTO comments (id, product_id, content, held_session) VALUES (gen_random_uuid(), 'a', 'Buy coins', 'session-1')",
  );
});
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await harness.folder();
});
afterEach(() => harness.clear());

function runExport(...parameters: string[]) {
  return runProgram(['export', ...parameters], { DATABASE_URL: database.url });
}

test.each(['csv', 'json', 'jsonl', 'ndjson'])(
  'an empty site that imports products.%s exports the same bytes',
  async (ending) => {
    const [path, again] = [join(folder, `products.${ending}`), join(folder, `again.${ending}`)];
    const done = await runExport(path, '--json');
    expect(JSON.parse(done.stdout)).toEqual({ file: path, rows: { products: 2 } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const empty = await createTestDatabase();
    const taken = await runProgram(['import', path, '--json'], {
      DATABASE_URL: empty.url,
      DATA_DIR: join(folder, 'data'),
    });
    expect(JSON.parse(taken.stdout)).toMatchObject({ created: 2, updated: 0, unchanged: 0 });
    const { code, stdout, stderr } = await runProgram(['export', again], { DATABASE_URL: empty.url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`Exported 2 products.\n${again}\n`);
    expect(await readFile(again, 'utf8')).toBe(await readFile(path, 'utf8'));
    await empty.drop();
  },
);

test('export - writes JSON Lines to standard output', async () => {
  const { code, stdout, stderr } = await runExport('-', '--counts');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const products = stdout.trimEnd().split('\n');
  expect(products.map((line) => JSON.parse(line))).toMatchObject([
    { id: 'a', name: 'Ärger 🌊', tags: ['x', 'y, z'], upvotes: 0 },
    { id: 'later', createdAt: '2099-01-01T00:00:00.000Z', comments: 0 },
  ]);
});

test('export - escapes characters that a terminal would interpret', async () => {
  const hostile = await createTestDatabase();
  const name = 'Wave \u009b31m \u202e';
  await hostile.query("INSERT INTO products (id, name) VALUES ('a', $1)", [name]);
  const { stdout } = await runProgram(['export', '-'], { DATABASE_URL: hostile.url });
  expect(stdout).not.toMatch(/[\u009b\u202e]/);
  expect(JSON.parse(stdout)).toMatchObject({ name });
  await hostile.drop();
});

test('export - ends without an error if its output is closed', async () => {
  const command = harness.start(['export', '-'], { settings: { DATABASE_URL: database.url } });
  command.process.stdout?.destroy();
  expect(await command.exited).toMatchObject({ code: 0, stderr: '' });
});

test('export --tables writes upvotes or comments, without sessions', async () => {
  const upvotes = await runExport('-', '--tables', 'upvotes');
  expect(JSON.parse(upvotes.stdout)).toEqual({
    id: expect.any(String),
    productId: 'a',
    createdAt: expect.stringMatching(/Z$/),
  });
  const saved = await runExport(join(folder, 'upvotes.csv'), '--tables', 'upvotes');
  expect(saved.stdout).toMatch(/^Exported 1 upvote\.\n/);
  const comments = await runExport('-', '--tables', 'comments');
  expect(JSON.parse(comments.stdout)).toMatchObject({ productId: 'a', content: 'Buy coins' });
  expect(comments.stdout).not.toContain('session');
});

test('a CSV export of comments puts an apostrophe before formulas; products and other formats contain the exact text', async () => {
  const other = await createTestDatabase();
  const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', '=1, "2"', '\n=1', '＝1', '＋1', '－1', '＠SUM(1)'];
  for (const [index, formula] of formulas.entries()) {
    const id = `p${10 + index}`;
    await other.query('INSERT INTO products (id, name) VALUES ($1, $2)', [id, formula]);
    await other.query('INSERT INTO comments (id, product_id, content) VALUES (gen_random_uuid(), $1, $2)', [
      id,
      formula,
    ]);
  }
  const contentOf = async (name: string, table: string) => {
    const path = join(folder, name);
    await runProgram(['export', path, '--tables', table], { DATABASE_URL: other.url });
    return readFile(path, 'utf8');
  };
  const comments = await contentOf('comments.csv', 'comments');
  const products = await contentOf('products.csv', 'products');
  const lines = await contentOf('comments.jsonl', 'comments');
  await other.drop();
  const plain = ["'=1+1", "'+1", "'-1", "'@SUM(1)", "'\t=1", "'＝1", "'＋1", "'－1", "'＠SUM(1)"];
  for (const text of [...plain, `"'\r=1"`, `"'\n=1"`, `"'=1, ""2"""`]) expect(comments).toContain(`,${text},`);
  for (const text of ['p10,=1+1,', 'p11,+1,', 'p16,"=1, ""2""",']) expect(products).toContain(text);
  const exact = lines.trimEnd().split('\n');
  expect(exact.map((line) => JSON.parse(line).content)).toEqual(formulas);
});

test('export replaces an existing file only with --force, and leaves no other file in the folder', async () => {
  const path = join(folder, 'site.jsonl');
  await writeFile(path, 'mine');
  expectRefusal(await runExport(path), /exists\. .*--force/);
  expect(await readFile(path, 'utf8')).toBe('mine');
  expect((await runExport(path, '--force')).code).toBe(0);
  expect(await readFile(path, 'utf8')).toContain('"Ärger 🌊"');
  expect(await readdir(folder)).toEqual(['site.jsonl']);
});

test('export exits 2 with one line for an unwritable target or invalid options', async () => {
  await mkdir(join(folder, 'sub.csv'));
  expectRefusal(await runExport(join(folder, 'missing', 'site.jsonl')), /There is no folder .*missing/);
  expectRefusal(await runExport(join(folder, 'sub.csv')), /is not a file/);
  expectRefusal(await runExport('-', '--json'), /--json cannot be combined/);
  expectRefusal(await runExport(join(folder, 'site.txt')), /ends in one of \.csv, \.json/);
  expectRefusal(await runExport('-', '--tables', 'upvotes', '--counts'), /--counts applies only to products/);
  const unknown = await runExport(join(folder, 'x.jsonl'), '--tables', 'votes');
  expect(unknown).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('products, upvotes, comments'),
  });
  expect(await readdir(folder)).toEqual(['sub.csv']);
});

test('export refuses a folder without write permission, names it, and leaves it unchanged', async () => {
  await installForOtherAccounts();
  await chmod(folder, 0o555);
  // Runs as another user, because root may write everywhere.
  const settings = { DATABASE_URL: database.url, HOME: folder };
  const refused = await runCommand(['export', join(folder, 'site.jsonl')], { settings, account: UNPRIVILEGED });
  expectRefusal(refused, /Cannot write site\.jsonl into .*\(EACCES\)/);
  expect(await readdir(folder)).toEqual([]);
});
