import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type AuditEntry, recordAudit, systemUser } from '../../src/core/audit/audit-log.ts';
import { createCore } from '../../src/core/core.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const run = (...parameters: string[]) => runProgram(parameters, { DATABASE_URL: database.url });
const entries = async (...flags: string[]) =>
  (await jsonOf<{ entries: AuditEntry[] }>(['log', ...flags], { DATABASE_URL: database.url })).entries;

test('log prints a message if the audit log is empty', async () => {
  expect(await run('log')).toEqual({ code: 0, stderr: '', stdout: 'The audit log is empty.\n' });
  expect(await entries()).toEqual([]);
});

test('log lists the commands that changed the site with their operator, newest first, but not commands that only read', async () => {
  const product = buildProduct({ id: `p-${randomUUID()}`, name: 'Tide' });
  await saveProducts(database, [product]);
  const core = createCore(database);
  const post = async (held: boolean) =>
    (
      await core.addComment(
        { productId: product.id, content: 'x', website: held ? 'spam.example' : '' },
        { session: 'session-a' },
      )
    ).comment.id;
  const [held, plain] = [await post(true), await post(false)];
  await database.query('UPDATE product_counts SET upvotes = 7 WHERE product_id = $1', [product.id]);

  await run('counts', 'check');
  await run('counts', 'check', '--repair');
  await run('comments', 'release', held);
  await run('comments', 'hide', plain, '--reason', 'off topic');
  await run('comments', 'restore', plain);
  await run('comments', 'list');
  await run('products', 'remove', '--yes', product.id);
  await run('products', 'undo');
  await run('sample', 'load');
  await run('sample', 'remove', '--engagement-only', '--yes');

  const done = await entries();
  expect(done.map(({ action, target }) => [action, target]).toReversed()).toEqual([
    ['counts repair', product.id],
    ['comments release', held],
    ['comments hide', plain],
    ['comments restore', plain],
    ['products remove', product.id],
    ['products restore', product.id],
    ['sample load', 'sample catalogue'],
    ['sample remove', 'sample catalogue'],
  ]);
  expect(new Set(done.map(({ operator }) => operator))).toEqual(new Set([systemUser()]));
  expect(done.find(({ action }) => action === 'comments hide')?.details).toEqual({
    productId: product.id,
    reason: 'off topic',
  });
  const { stdout } = await run('log', '--limit', '3');
  const rows = stdout.trimEnd().split('\n');
  expect(rows).toHaveLength(3);
  const operator = systemUser();
  expect(rows[1]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}.* loaded \d+ sample products\.$/);
  expect(rows[1]).toContain(`  ${operator} loaded `);
  expect(rows[2]).toContain(`${operator} restored 'Tide' (${product.id}) with 0 upvotes and 2 comments.`);
  expect((await run('log', '--action', 'sample load')).stdout.trimEnd().split('\n')).toEqual([rows[1]]);
  expect((await run('log', '--action', 'sample', '--until', '2020-01-31')).stdout).toBe('No entries match.\n');
  const { stdout: all } = await run('log');
  expect(all).toContain(`${operator} hid comment ${plain.slice(0, 8)} on ${product.id} (off topic).`);
});

test('an edit of a product that changes no value says so, and adds no entry', async () => {
  const id = `p-${randomUUID()}`;
  await saveProducts(database, [buildProduct({ id, name: 'Ebb' })]);
  const edit = (name: string) => run('products', 'edit', id, '--set', `name=${name}`);
  expect((await edit('Flood')).stdout).toBe(`Edited 'Flood' (${id}).\n`);
  const before = await entries();
  expect(await edit('Flood')).toMatchObject({
    code: 0,
    stdout: `'Flood' (${id}) already has these values; nothing was changed.\n`,
  });
  expect(await entries()).toEqual(before);
});

test.each([
  ['products edit', 'has not launched yet', 'ahead', 1],
  ['products postpone', 'has launched', 'behind', -1],
])(
  "a later launch time is logged as '%s' if the product %s, even if this machine's clock is an hour %s",
  async (action, _state, _direction, hours) => {
    const now = Date.now();
    const createdAt = new Date(now + hours * 1_800_000).toISOString();
    const product = buildProduct({ id: `p-${randomUUID()}`, createdAt });
    await saveProducts(database, [product]);
    vi.useFakeTimers({ toFake: ['Date'], now: now + hours * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const later = new Date(now + 7 * 86_400_000).toISOString();
    expect(await run('products', 'edit', product.id, '--set', `createdAt=${later}`)).toMatchObject({ code: 0 });
    vi.useRealTimers();
    expect((await entries())[0]).toMatchObject({ action, target: product.id });
  },
);

test('log undo undoes an entry by its id, but only once', async () => {
  const product = buildProduct({ id: `p-${randomUUID()}`, name: 'Ebb', maker: 'Moon' });
  await saveProducts(database, [product]);
  await run('products', 'edit', product.id, '--set', 'name=Flood', '--set', 'tags=sea, moon');
  const [edit] = await entries('--limit', '1');
  expect(edit).toMatchObject({ action: 'products edit', details: { after: { name: 'Flood', tags: ['sea', 'moon'] } } });
  const { stdout } = await run('log', 'undo', edit?.id ?? '');
  expect(stdout).toMatch(/^Undone: .+ edited 'Flood' \(p-[0-9a-f-]+\): name, tags\.\n$/);
  const shown = await jsonOf<{ product: { name: string } }>(['products', 'show', product.id], {
    DATABASE_URL: database.url,
  });
  expect(shown.product.name).toBe('Ebb');
  expect(await run('log', 'undo', edit?.id ?? '', '--json')).toMatchObject({ code: 1, stdout: '' });
  expect(await run('log', 'undo', 'nothing')).toMatchObject({ code: 2 });
  expect(await run('products', 'edit', product.id, '--set', 'image=ftp://x')).toMatchObject({ code: 2 });
});

test('log undo accepts --json on either side of undo, and no option of the list', async () => {
  const product = buildProduct({ id: `p-${randomUUID()}`, name: 'Ebb' });
  await saveProducts(database, [product]);
  for (const place of ['before', 'after']) {
    await run('products', 'edit', product.id, '--set', `name=Flood ${place}`);
    const [edit] = await entries('--limit', '1');
    const id = edit?.id ?? '';
    expect(await run('log', '--limit', '3', 'undo', id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no option --limit'),
    });
    const { stdout } = await run('log', ...(place === 'before' ? ['--json', 'undo', id] : ['undo', id, '--json']));
    expect(JSON.parse(stdout), place).toEqual({ undone: expect.objectContaining({ id }), note: null });
  }
});

test('log undo says how many products the undo of an import skipped', async () => {
  const id = `p-${randomUUID()}`;
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-log-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'two.csv');
  await writeFile(file, `id,name\n${id},Tide\n${id}-2,Ebb\n`);
  await run('import', file);
  const [entry] = await entries('--limit', '1');
  await run('products', 'edit', id, '--set', 'name=Flood');
  const { stdout } = await run('log', 'undo', entry?.id ?? '');
  expect(stdout).toMatch(
    /imported two\.csv: 2 created, 0 updated\. Skipped 1 product \(changed or final since the import\)\.\n$/,
  );
});

test('console invites, lists and revokes operators', async () => {
  const settings = { DATABASE_URL: database.url, SITE_URL: 'https://waves.example' };
  expect((await run('console', 'list')).stdout).toBe('The site has no operators, so it has no console.\n');
  const { link } = await jsonOf<{ link: string }>(['console', 'invite', 'ada'], settings);
  expect(link).toMatch(/^https:\/\/waves\.example\/console#invitation=[\w-]{43}$/);
  expect((await run('console', 'list')).stdout).toMatch(/ada +invited until \d{4}-/);
  expect(await run('console', 'invite', 'Ada Lovelace')).toMatchObject({ code: 2 });
  expect((await run('console', 'revoke', 'ada')).stdout).toBe("Revoked ada's access.\n");
  expect(await run('console', 'revoke', 'ada')).toMatchObject({ code: 1 });
});

test('log prints no escape sequences to the terminal', async () => {
  await recordAudit(database, {
    action: 'import',
    target: '\u001b[2J\u202e.csv\n',
    details: { note: '\u009b31m\u0007' },
  });
  expect((await run('log', '--limit', '1')).stdout).toContain('\\u{1b}[2J\\u{202e}.csv\\n');
});

test.each([
  [['--limit', '0']],
  [['--limit', 'x']],
  [['--until', 'yesterday']],
  [['--until', '0000-01-01']],
  [['--until', '9999-12-31T23:59:59-01:00']],
  [['--action', 'imports']],
  [['--nonsense']],
  [['something']],
])('log %j is refused with exit code 2', async (flags) => {
  expect(await run('log', ...flags)).toMatchObject({ code: 2, stdout: '' });
});
