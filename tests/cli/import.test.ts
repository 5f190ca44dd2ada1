import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCore } from '../../src/core/core.ts';
import { CommandHarness, expectRefusal, runCommand, UNPRIVILEGED } from '../support/command.ts';
import { installCommand, installForOtherAccounts } from '../support/installed-command.ts';
import { outputOf, type ProgramRun, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const harness = new CommandHarness();
let database: TestDatabase;
let folder: string;

beforeAll(installCommand);
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.query('DELETE FROM products');
  folder = await harness.folder();
});
afterEach(() => harness.clear());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Runs the command in this process, on a database server. */
function runImport(...parameters: string[]): Promise<ProgramRun> {
  return runProgram(['import', ...parameters], { DATABASE_URL: database.url, DATA_DIR: join(folder, 'data') });
}

async function names(): Promise<Record<string, string>> {
  const rows = await database.query<{ id: string; name: string }>('SELECT id, name FROM products ORDER BY id');
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}

describe('with an embedded database', () => {
  test('a running site shows imported products and pictures, and an import works without a running site', async () => {
    const settings = { DATA_DIR: join(folder, 'data'), SAMPLE_CATALOGUE: 'off', LOG_LEVEL: 'warn' };
    const site = await harness.serve(settings);
    expect(await (await fetch(site.address)).text()).not.toContain('Tide &amp; Co');
    await mkdir(join(folder, 'pictures'));
    await writeFile(join(folder, 'pictures', 'tide.png'), PNG);
    const path = await file('products.csv', 'name,image,tags\nTide & Co,tide.png,"charts, data"\n');
    const parameters = ['import', path, '--images', join(folder, 'pictures'), '--json'];
    const first = await runProgram(parameters, settings);
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toMatchObject({ created: 1, updated: 0, unchanged: 0, picturesCopied: 1 });
    await expect.poll(async () => (await fetch(site.address)).text()).toContain('Tide &amp; Co');

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
    await site.exited;
    const second = await runProgram(parameters, settings);
    expect(JSON.parse(second.stdout)).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  });
});

describe('the output of import', () => {
  test('with --dry-run, lists the changes without making them, and the import then makes the same changes', async () => {
    outputOf(await runImport(await file('a.jsonl', '{"id":"a","name":"A"}\n{"id":"b","name":"B"}')));
    const path = await file('b.json', '[{"id":"a","name":"New\\u001b[2J"},{"id":"b"},{"id":"c","name":"C"}]');
    expect(outputOf(await runImport(path, '--dry-run'))).toBe(
      '+ c  C\n~ a\n    name: A → New\\u{1b}[2J\nDry run: nothing was changed. The import would result in: 1 created, 1 updated, 1 unchanged.\n',
    );
    expect(JSON.parse(outputOf(await runImport(path, '--dry-run', '--json')))).toMatchObject({
      ...{ created: 1, updated: 1, unchanged: 1, dryRun: true },
      wouldCreate: [{ id: 'c', name: 'C', line: 1, item: 3 }],
      wouldUpdate: [{ id: 'a', line: 1, item: 1, changes: [{ field: 'name', before: 'A' }] }],
    });
    expect(await names()).toEqual({ a: 'A', b: 'B' });
    expect(outputOf(await runImport(path))).toBe('1 created, 1 updated, 1 unchanged.\n');
  });

  test('depends on --split, the separator of tags, which is a comma by default', async () => {
    const path = await file('tags.csv', 'id,tags\na,"x, y;z"\n');
    const tags = async () => (await database.query<{ tags: string[] }>('SELECT tags FROM products'))[0]?.tags;
    outputOf(await runImport(path));
    expect(await tags()).toEqual(['x', 'y;z']);
    outputOf(await runImport(path, '--split', ';'));
    expect(await tags()).toEqual(['x, y', 'z']);
  });

  test('reports skipped rows and columns, and possible duplicates', async () => {
    const path = await file(
      'odd.csv',
      'id,Title,Extra,upvotes,image\na,Tide,x,5,pic.png\nb,tide,x,5,\nA B,Ebb,,,\na,Tide,,,\n',
    );
    expect(outputOf(await runImport(path, '--map', 'name=Title', '--slugify-ids'))).toBe(
      [
        '3 created, 0 updated, 0 unchanged.',
        'Ignored line 2: a later row has the same id, a.',
        'Possible duplicate: a (line 5) has the same name as b: Tide.',
        "Ignored columns that are not fields of a product: 'Extra'. Use --map to read them as fields.",
        'Ignored columns, because counts cannot be imported: upvotes.',
        'Pictures given as file names were not imported: 1. Use --images to copy them from a folder. Existing products keep their pictures.\n',
      ].join('\n'),
    );
  });
});

test("a product without a time launches immediately even if this machine's clock is ahead of the database's", async () => {
  const path = await file('one.csv', 'id,name\ntide,Tide\n');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect((await runImport(path)).stdout).toBe('1 created, 0 updated, 0 unchanged.\n');
  vi.useRealTimers();
  expect(await createCore(database).getProduct('tide')).toMatchObject({ product: { name: 'Tide' } });
});

test("the products of the sample catalogue have launched even if this machine's clock is a day ahead", async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await runProgram(['sample', 'load'], { DATABASE_URL: database.url })).toMatchObject({ code: 0 });
  expect(await database.query('SELECT FROM products WHERE created_at > clock_timestamp()')).toEqual([]);
});

describe('refused imports exit 2 and change nothing', () => {
  test('an invalid row is refused with one message per error, which names the file and the line', async () => {
    const path = await file('bad.csv', 'id,name,createdAt\na,A,2023-01-01\nB b,B,never\n');
    expectRefusal(
      await runImport(path),
      /bad\.csv: line 3: id: 'B b' is not an id/,
      /bad\.csv: line 3: createdAt: 'never' is not a supported date/,
      /bad\.csv: 2 errors; nothing was imported/,
    );
    expect(await names()).toEqual({});
  });

  test('an invalid item of a JSON array is refused with its number and, in a file of several lines, its line', async () => {
    const items = [{ id: 'a' }, { id: 'b' }, { id: 'B c' }];
    expectRefusal(
      await runImport(await file('one-line.json', JSON.stringify(items))),
      /one-line\.json: item 3: id: 'B c' is not an id/,
      /1 error;/,
    );
    expectRefusal(
      await runImport(await file('lines.json', JSON.stringify(items, null, 2))),
      /lines\.json: item 3: line 8: id: 'B c' is not an id/,
      /1 error;/,
    );
    expectRefusal(
      await runImport(await file('broken.json', '[{"id":"a"},{"id":oops}]')),
      /broken\.json: item 2: This is not JSON/,
      /1 error;/,
    );
  });

  test('a missing picture, and a file that is not a picture, are refused', async () => {
    await writeFile(join(folder, 'page.png'), '<html>');
    const path = await file('p.jsonl', '{"id":"a","image":"no.png"}\n{"id":"b","screenshots":["page.png"]}');
    expectRefusal(
      await runImport(path, '--images', folder),
      /line 1: image: 'no.png' is not in the picture folder/,
      /line 2: screenshots: 'page.png' is not a PNG/,
      /2 errors/,
    );
  });

  // An earlier version did not validate the rows of a file with such a first line.
  test.each(['launches.csv', 'launches.json', 'launches.jsonl'])('%s with several tables is refused', async (name) => {
    const rows = [
      { groundswell: { format: 'export', version: 1, tables: [{ name: 'products', columns: ['id', 'image'] }] } },
      { products: { id: 'a', image: 'javascript:alert(1)' } },
      { upvotes: { id: '00000000-0000-4000-8000-000000000001', product_id: 'a', user_session: 'session-1' } },
      { comments: { product_id: 'a', author_badge: 'Staff', likes: 99_999, content: 'x' } },
    ];
    const lines = rows.map((row) => JSON.stringify(row));
    const path = await file(name, name.endsWith('.json') ? `[${lines.join(',\n')}]` : `${lines.join('\n')}\n`);
    const { code, stdout, stderr } = await runImport(path);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      name.endsWith('.csv') ? /line 1: A quote is inside a cell/ : /No column is a field of a product: 'upvotes'/,
    );
    expect(stderr).toMatch(/nothing was imported\n$/);
    for (const table of ['products', 'upvotes', 'comments']) {
      expect(await database.query(`SELECT FROM ${table}`), table).toEqual([]);
    }
  });

  test.each(['https:', ''])('a picture of %s//host is refused if the host has 254 characters', async (scheme) => {
    const row = (length: number) => JSON.stringify({ name: 'x', image: `${scheme}//${'a'.repeat(length)}/b.png` });
    const path = await file('host.jsonl', `${row(253)}\n${row(254)}`);
    expectRefusal(await runImport(path), /line 2: image: .* is not an http/, /1 error; nothing/);
  });

  test.each([
    ['a file that is missing', ['missing.csv'], /missing\.csv cannot be read: ENOENT/],
    ['a folder', ['.'], /is not a file/],
    ['an unknown ending', ['text.txt'], /ends in one of \.csv, \.json, \.jsonl, \.ndjson/],
    ['an unknown field', ['ok.csv', '--map', 'votes=id'], /'votes' is not a field/],
    ['a column that the file lacks', ['ok.csv', '--map', 'name=Title'], /no column 'Title'/],
    ['a folder of pictures that is missing', ['ok.csv', '--images', 'nowhere'], /The picture folder .* does not exist/],
  ])('%s is refused', async (_what, [name = '', ...options], message) => {
    await file('text.txt', '');
    await file('ok.csv', 'id\na\n');
    expectRefusal(await runImport(join(folder, name), ...options), message);
    expect(await names()).toEqual({});
  });

  test('a file that this user may not read is refused', async () => {
    await installForOtherAccounts();
    const path = await file('closed.csv', 'id\na\n');
    await chmod(path, 0o000);
    // Runs as another user, because root may read everything.
    const settings = { DATABASE_URL: database.url, HOME: folder };
    expectRefusal(
      await runCommand(['import', path], { settings, account: UNPRIVILEGED }),
      /closed\.csv cannot be read: EACCES/,
    );
  });
});

test.each([
  ['SIGKILL', { signal: 'SIGKILL' }],
  ['SIGINT', { code: 130, stdout: '', stderr: 'groundswell: Interrupted.\n' }],
] as const)(
  'an import that gets %s during its writes leaves the site unchanged, and does not block upvotes',
  async (signal, outcome) => {
    const rows = Array.from({ length: 1_200 }, (_, index) => ({ id: `p-${index}`, name: 'Before' }));
    const text = (name: string) => rows.map((row) => JSON.stringify({ ...row, name })).join('\n');
    outputOf(await runImport(await file('before.jsonl', text('Before'))));
    const after = await file('after.jsonl', `{"id":"new"}\n${text('After')}`);

    await database.transaction(async (sql) => {
      // The import waits for this row after it has written hundreds of others.
      await sql.query("SELECT FROM products WHERE id = 'p-700' FOR UPDATE");
      const { process: child, exited } = harness.start(['import', after], { settings: { DATABASE_URL: database.url } });
      const waiting =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      await expect.poll(() => database.query(waiting)).toHaveLength(1);
      const core = createCore(database);
      expect(await core.setUpvote({ productId: 'p-0', session: 'session-1234', upvoted: true })).toEqual({
        ...{ upvoted: true, upvotes: 1 },
      });
      child.kill(signal);
      expect(await exited).toMatchObject(outcome);
    });
    // The server may detect the closed connection only after it has granted the lock.
    const others = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL';
    await expect.poll(() => database.query(others)).toEqual([]);
    expect(new Set(Object.values(await names()))).toEqual(new Set(['Before']));
    expect(Object.keys(await names())).toHaveLength(1_200);

    expect(outputOf(await runImport(after))).toContain('1 created, 1,200 updated, 0 unchanged.');
  },
);
