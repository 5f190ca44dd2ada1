import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCore } from '../../src/core/core.ts';
import { expectRefusal, Ground, installCommand, runCommand } from '../support/command.ts';
import { type ProgramRun, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const ground = new Ground();
let database: TestDatabase;
let folder: string;

// Every start is a process or two, on a machine that has other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(installCommand);
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.query('DELETE FROM products');
  folder = await ground.folder();
});
afterEach(() => ground.clear());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Runs the command on a server's database, in this process. */
function runImport(...parameters: string[]): Promise<ProgramRun> {
  return runProgram(['import', ...parameters], { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data') });
}

/** Runs a command that must succeed and say nothing but its answer. */
async function answerOf(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runImport(...parameters);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function names(): Promise<Record<string, string>> {
  const rows = await database.query<{ id: string; name: string }>('SELECT id, name FROM products ORDER BY id');
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}

describe('beside an embedded database', () => {
  test('a running site shows what is imported, pictures too; with the site stopped it works alike', async () => {
    const settings = { DATA_DIR: join(folder, 'data'), SAMPLE_CATALOGUE: 'off', LOG_LEVEL: 'warn' };
    const site = await ground.serve(settings);
    expect(await (await fetch(site.address)).text()).not.toContain('Tide &amp; Co');
    await mkdir(join(folder, 'pictures'));
    await writeFile(join(folder, 'pictures', 'tide.png'), PNG);
    const path = await file('products.csv', 'name,image,tags\nTide & Co,tide.png,"charts, data"\n');
    const parameters = ['import', path, '--images', join(folder, 'pictures'), '--json'];
    const first = await runCommand(parameters, { settings });
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toMatchObject({ created: 1, updated: 0, unchanged: 0, picturesCopied: 1 });
    await vi.waitFor(async () => expect(await (await fetch(site.address)).text()).toContain('Tide &amp; Co'), 10_000);

    const { product } = await (await fetch(`${site.address}/api/products/tide-and-co`)).json();
    expect(product).toMatchObject({ name: 'Tide & Co', tags: ['charts', 'data'] });
    const picture = await fetch(`${site.address}${product.image}`);
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    for (const name of ['missing.png', `${'0'.repeat(40)}.png`, '..%2Fpostgres%2FPG_VERSION', '']) {
      expect((await fetch(`${site.address}/images/${name}`)).status, name).toBe(404);
    }

    site.process.kill('SIGTERM');
    await site.ended;
    const second = await runCommand(parameters, { settings });
    expect(JSON.parse(second.stdout)).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  });
});

describe('what it prints', () => {
  test('--dry-run prints the difference and makes none; then the same is done', async () => {
    await answerOf(await file('a.jsonl', '{"id":"a","name":"A"}\n{"id":"b","name":"B"}'));
    const path = await file('b.json', '[{"id":"a","name":"New\\u001b[2J"},{"id":"b"},{"id":"c","name":"C"}]');
    expect(await answerOf(path, '--dry-run')).toBe(
      '+ c  C\n~ a\n    name: A → New\\u{1b}[2J\nNothing was changed. It would be: 1 created, 1 updated, 1 unchanged.\n',
    );
    expect(JSON.parse(await answerOf(path, '--dry-run', '--json'))).toMatchObject({
      ...{ created: 1, updated: 1, unchanged: 1, dryRun: true },
      wouldCreate: [{ id: 'c', name: 'C', line: 1 }],
      wouldUpdate: [{ id: 'a', line: 1, changes: [{ field: 'name', before: 'A' }] }],
    });
    expect(await names()).toEqual({ a: 'A', b: 'B' });
    expect(await answerOf(path)).toBe('1 created, 1 updated, 1 unchanged.\n');
  });

  test('what was left out and what looks odd is said', async () => {
    const path = await file(
      'odd.csv',
      'id,Title,Extra,upvotes,image\na,Tide,x,5,pic.png\nb,tide,x,5,\nA B,Ebb,,,\na,Tide,,,\n',
    );
    expect(await answerOf(path, '--map', 'name=Title', '--slugify-ids')).toBe(
      [
        '3 created, 0 updated, 0 unchanged.',
        'Line 2 does not count: a comes again further down.',
        'Possible duplicate: a (line 5) has the name of b, Tide.',
        "Not imported, since a product has no such field: 'Extra'. --map says which column is which field.",
        'Not imported, since counts are made by visitors alone: upvotes.',
        '1 pictures are neither on the web nor on the site: --images copies them from a folder.\n',
      ].join('\n'),
    );
  });
});

describe('what it refuses, with exit code 2', () => {
  test('a row that is wrong: a line each with the file, and nothing is imported', async () => {
    const path = await file('bad.csv', 'id,name,createdAt\na,A,2023-01-01\nB b,B,never\n');
    expectRefusal(
      await runImport(path),
      /bad\.csv: line 3: id: 'B b' is not an id/,
      /bad\.csv: line 3: createdAt: 'never' is not a date/,
      /bad\.csv: 2 faults; nothing was imported/,
    );
    expect(await names()).toEqual({});
  });

  test('a picture that is not there, and a file that is no picture', async () => {
    await writeFile(join(folder, 'page.png'), '<html>');
    const path = await file('p.jsonl', '{"id":"a","image":"no.png"}\n{"id":"b","screenshots":["page.png"]}');
    expectRefusal(
      await runImport(path, '--images', folder),
      /line 1: image: 'no.png' is not in the folder/,
      /line 2: screenshots: 'page.png' is not a PNG/,
      /2 faults/,
    );
  });

  test.each([
    ['a file that is missing', ['missing.csv'], /missing\.csv cannot be read: ENOENT/],
    ['a folder', ['.'], /is no file/],
    ['an unknown ending', ['text.txt'], /must end in \.json, \.jsonl, \.ndjson, \.csv/],
    ['an unknown field', ['ok.csv', '--map', 'votes=id'], /no field 'votes'/],
    ['a column that the file lacks', ['ok.csv', '--map', 'name=Title'], /no column 'Title'/],
    ['a folder of pictures that is missing', ['ok.csv', '--images', 'nowhere'], /There is no folder/],
    ['an option that an export does not take', ['export.jsonl', '--dry-run'], /--dry-run is for files of products/],
    ['a damaged export', ['export.jsonl'], /Nothing was imported/],
  ])('%s', async (_what, [name = '', ...options], message) => {
    await file('text.txt', '');
    await file('ok.csv', 'id\na\n');
    await file('export.jsonl', '{"groundswell":{"format":"export","version":1,"tables":[]}}\n');
    expectRefusal(await runImport(join(folder, name), ...options), message);
    expect(await names()).toEqual({});
  });
});

test.each([
  ['SIGKILL', { signal: 'SIGKILL' }],
  ['SIGINT', { code: 1, stdout: '', stderr: 'groundswell: It was interrupted. Nothing was changed.\n' }],
] as const)(
  '%s in the middle of writing leaves the site as before; meanwhile visitors upvote what it has written',
  async (signal, end) => {
    const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `p-${index}`, name: 'Before' }));
    const text = (name: string) => rows.map((row) => JSON.stringify({ ...row, name })).join('\n');
    await answerOf(await file('before.jsonl', text('Before')));
    const after = await file('after.jsonl', `{"id":"new"}\n${text('After')}`);

    const { ended } = await database.transaction(async (sql) => {
      // The import has written hundreds of rows when it comes to this one, and waits for it.
      await sql.query("SELECT FROM products WHERE id = 'p-700' FOR UPDATE");
      const { process: child, ended } = ground.start(['import', after], { settings: { DATABASE_URL: database.url } });
      const waiting =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 30_000);
      const core = createCore(database);
      expect(await core.setUpvote({ productId: 'p-0', session: 'session-1234', upvoted: true })).toEqual({
        ...{ upvoted: true, upvotes: 1 },
      });
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
      return { ended };
    });
    // Asked to end, it does when the statement in hand is through.
    expect(await ended).toMatchObject(end);
    // Its connection ends when the server notices, which may be after it has got the lock.
    const others = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL';
    await vi.waitFor(async () => expect(await database.query(others)).toEqual([]), 30_000);
    expect(new Set(Object.values(await names()))).toEqual(new Set(['Before']));
    expect(Object.keys(await names())).toHaveLength(1_200);

    expect(await answerOf(after)).toContain('1 created, 1,200 updated, 0 unchanged.');
  },
);
