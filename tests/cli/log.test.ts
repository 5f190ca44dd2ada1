import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Act } from '../../src/core/audit/list-acts.ts';
import { recordAct } from '../../src/core/audit/record-act.ts';
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
const acts = async (...flags: string[]) =>
  (await jsonOf<{ acts: Act[] }>(['log', ...flags], { DATABASE_URL: database.url })).acts;

test('before anything was done', async () => {
  expect(await run('log')).toEqual({ code: 0, stderr: '', stdout: 'Nothing was done by command yet.\n' });
  expect(await acts()).toEqual([]);
});

test('each command that changes the site is in the log, newest first, with who ran it; those that look are not', async () => {
  const product = buildProduct({ id: `p-${randomUUID()}`, name: 'Tide' });
  await saveProducts(database, [product]);
  const core = createCore(database);
  const post = async (held: boolean) =>
    (await core.addComment({ productId: product.id, content: 'x' }, { session: 'session-a' }, { held })).comment.id;
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
  await run('sample', 'remove', '--yes');

  const done = await acts();
  expect(done.map(({ act, subject }) => [act, subject]).toReversed()).toEqual([
    ['counts repair', product.id],
    ['comments release', held],
    ['comments hide', plain],
    ['comments restore', plain],
    ['products remove', product.id],
    ['products restore', product.id],
    ['sample load', 'sample catalogue'],
    ['sample remove', 'sample catalogue'],
  ]);
  expect(new Set(done.map(({ operator }) => operator))).toEqual(new Set([userInfo().username]));
  expect(done.find(({ act }) => act === 'comments hide')?.details).toEqual({
    productId: product.id,
    reason: 'off topic',
  });
  const { stdout } = await run('log', '--limit', '3');
  const [titles, ...rows] = stdout.trimEnd().split('\n');
  expect(titles).toMatch(/^TIME +OPERATOR +ACT +SUBJECT +DETAILS$/);
  expect(rows).toHaveLength(3);
  expect(rows[2]).toMatch(new RegExp(`products restore +${product.id} +\\{"name":"Tide","upvotes":0,"comments":2\\}$`));
});

test('nothing in it can act on a terminal', async () => {
  await recordAct(database, { act: 'import', subject: '\u001b[2J\u202e.csv\n', details: { note: '\u009b31m\u0007' } });
  expect((await run('log', '--limit', '1')).stdout).toContain('\\u{1b}[2J\\u{202e}.csv\\n');
});

test.each([[['--limit', '0']], [['--limit', 'x']], [['--nonsense']], [['something']]])(
  '%j is bad usage: exit code 2',
  async (flags) => {
    expect(await run('log', ...flags)).toMatchObject({ code: 2, stdout: '' });
  },
);

test('--help has examples', async () => {
  expect((await run('log', '--help')).stdout).toMatch(/Examples:\n {2}groundswell log\b/);
});
