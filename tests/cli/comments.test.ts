import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BrowsedComment } from '../../src/core/comments/browse-comments.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let core: Core;
let productId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  core = createCore(database);
});

beforeEach(async () => {
  await database.query('DELETE FROM products');
  const product = buildProduct({ id: `p-${randomUUID()}` });
  await saveProducts(database, [product]);
  productId = product.id;
});

afterAll(async () => {
  expect((await checkCounts(database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  await database.drop();
});

const settings = () => ({ DATABASE_URL: database.url });
const comments = (...parameters: string[]) => runProgram(['comments', ...parameters], settings());
const json = <Result>(...parameters: string[]) => jsonOf<Result>(['comments', ...parameters], settings());
const listed = async (...flags: string[]) => (await json<{ comments: BrowsedComment[] }>('list', ...flags)).comments;
const idsOf = async (...flags: string[]) => (await listed(...flags)).map(({ id }) => id).sort();

async function add(content: string, { held = false, on = productId } = {}): Promise<string> {
  const { comment } = await core.addComment(
    { productId: on, content, website: held ? 'spam.example' : '' },
    { session: 'session-a' },
  );
  return comment.id;
}

describe('comments list', () => {
  test('lists comments newest first, and can filter them by state, product and text', async () => {
    const other = buildProduct({ id: `p-${randomUUID()}` });
    await saveProducts(database, [other]);
    const [plain, held, hidden, elsewhere] = [
      await add('A plain one'),
      await add('A held one', { held: true }),
      await add('A hidden one'),
      await add('PLAIN, elsewhere', { on: other.id }),
    ];
    await comments('hide', hidden);
    expect(await idsOf()).toEqual([plain, held, hidden, elsewhere].sort());
    expect(await idsOf('--held')).toEqual([held]);
    expect(await idsOf('--hidden')).toEqual([hidden]);
    const spam = await add('Spam', { held: true });
    await comments('hide', spam);
    expect(await idsOf('--held')).toEqual([held]);
    expect(await idsOf('--held', '--hidden')).toEqual([spam]);
    expect(await idsOf('--product', other.id)).toEqual([elsewhere]);
    expect(await idsOf('--text', 'plain')).toEqual([plain, elsewhere].sort());
    expect(await idsOf('--text', 'plain', '--product', productId)).toEqual([plain]);
    expect(await idsOf('--limit', '3')).toHaveLength(3);
    const times = (await listed()).map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await comments('list', '--text', 'nobody wrote this')).stdout).toBe('No comments match.\n');
  });

  test('prints a table with short ids and states, whose layout no comment can break', async () => {
    const id = await add('\u001b]0;owned\u0007 first line\nsecond\u202e line \u{1f680} 道具');
    await add('held', { held: true });
    const both = await add('both', { held: true });
    await comments('hide', both);
    const { stdout } = await comments('list');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^ID +TIME \(UTC\) +PRODUCT +STATE +TEXT$/);
    expect(lines.find((line) => line.startsWith(`${id.slice(0, 8)} `))).toMatch(
      / public +\\u\{1b\}\]0;owned\\u\{7\} first line\\nsecond\\u\{202e\} line \u{1f680} 道具$/u,
    );
    expect(lines.filter((line) => / held +held$/.test(line))).toHaveLength(1);
    expect(lines.find((line) => line.startsWith(both.slice(0, 8)))).toMatch(/ held, hidden +both$/);
  });

  test('never prints the session of the author', async () => {
    await core.addComment({ productId, content: 'x', website: 'spam.example' }, { session: 'session-secret' });
    const { code, stdout } = await comments('list', '--held', '--json');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(productId) });
    expect(stdout).not.toContain('session-secret');
  });

  test.each([
    [['--limit', '0'], /number from 1 to 1000/],
    [['--limit', '1001'], /number from 1 to 1000/],
    [['--product', 'No Id'], /is not a product id/],
    [['--text', ''], /must not be empty/],
    [['--nonsense'], /unknown option/],
    [['something'], /too many arguments/],
  ])('%j is refused with exit code 2', async (flags, message) => {
    const { code, stdout, stderr } = await comments('list', ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('comments hide, restore and release', () => {
  test('hide and restore report their changes, and exit 1 if they skip a comment that is already in that state', async () => {
    const [one, two] = [await add('One'), await add('Two')];
    expect(await comments('hide', one, '--reason', 'spam')).toEqual({
      code: 0,
      stderr: '',
      stdout: 'Hid 1 of 1 comment.\n',
    });
    expect(await comments('hide', one, two)).toEqual({
      code: 1,
      stderr: '',
      stdout: `Hid 1 of 2 comments.\nUnknown or already hidden: ${one}\n`,
    });
    expect((await listed('--hidden')).map(({ id, hidden }) => [id, hidden?.reason]).sort()).toEqual(
      [
        [one, 'spam'],
        [two, null],
      ].sort(),
    );
    expect(await comments('restore', one, two)).toMatchObject({ code: 0, stdout: 'Restored 2 of 2 comments.\n' });
    const unknown = randomUUID();
    expect(await comments('restore', unknown)).toEqual({
      code: 1,
      stderr: '',
      stdout: `Restored 0 of 1 comment.\nUnknown or not hidden: ${unknown}\n`,
    });
    expect(await listed('--hidden')).toEqual([]);
  });

  test('--json prints the results with the same exit codes', async () => {
    const [id, unknown] = [await add('One'), randomUUID()];
    expect(await json('hide', id)).toEqual({ hidden: [{ id, productId }], skipped: [] });
    const again = await comments('hide', '--json', id, unknown);
    expect([again.code, JSON.parse(again.stdout)]).toEqual([1, { hidden: [], skipped: [id, unknown] }]);
    expect(await json('restore', id.toUpperCase())).toEqual({ restored: [{ id, productId }], skipped: [] });
    const released = await comments('release', '--json', id);
    expect([released.code, JSON.parse(released.stdout)]).toEqual([1, { released: [], notHeld: [id] }]);
  });

  test('release makes held comments public', async () => {
    const [held, plain] = [await add('Held', { held: true }), await add('Plain')];
    expect(await comments('release', held, plain)).toEqual({
      code: 1,
      stderr: '',
      stdout: `Released 1 of 2 comments.\nUnknown or not held: ${plain}\n`,
    });
    expect(await listed('--held')).toEqual([]);
    expect((await core.getProduct(productId))?.product.comments).toBe(2);
  });

  test('a short id from the list identifies its comment, and an ambiguous one is refused', async () => {
    const id = await add('One');
    const shown = (await comments('list')).stdout.split('\n')[1]?.split(' ')[0] ?? '';
    expect(shown).toBe(id.slice(0, 8));
    expect(await json('hide', shown)).toEqual({ hidden: [{ id, productId }], skipped: [] });
    expect(await json('restore', id.slice(0, 10).toUpperCase())).toEqual({
      restored: [{ id, productId }],
      skipped: [],
    });
    const [first, second] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    await database.query('UPDATE comments SET id = $2 WHERE id = $1', [id, first]);
    await database.query('UPDATE comments SET id = $2 WHERE id = $1', [await add('Two'), second]);
    const twins = (await comments('list')).stdout.split('\n').map((line) => line.split(' ')[0]);
    expect(twins).toEqual(expect.arrayContaining(['00000000..0001', '00000000..0002']));
    expect(await json('hide', '00000000..0002')).toEqual({ hidden: [{ id: second, productId }], skipped: [] });
    expect(await json('restore', '00000000..02')).toEqual({ restored: [{ id: second, productId }], skipped: [] });
    expect(await json('hide', `${second.slice(0, 24)}..${second.slice(-10)}`)).toMatchObject({ skipped: [] });
    expect(await json('restore', second)).toMatchObject({ skipped: [] });
    for (const wrong of ['00000000..', '..2', '00000000..x', '00000000..1..2']) {
      expect(await comments('hide', wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is not a comment id'),
      });
    }
    const ambiguous = await comments('hide', '00000000');
    expect(ambiguous).toMatchObject({ code: 2, stdout: '' });
    expect(ambiguous.stderr).toContain(`matches several comments. Use a longer id, such as ${first} or ${second}.`);
    expect(await listed('--hidden')).toEqual([]);
    expect(await comments('hide', 'ffff0000')).toMatchObject({ code: 1, stdout: expect.stringContaining('ffff0000') });
  });

  test.each(['hide', 'restore', 'release'])(
    '%s exits 2 for an invalid id or an empty list, and changes nothing',
    async (name) => {
      const id = await add('One');
      expect(await comments(name, id, '\u001b[2J')).toEqual({
        code: 2,
        stdout: '',
        stderr: "groundswell: '\\u{1b}[2J' is not a comment id. Use one from `groundswell comments list`.\n",
      });
      expect(await comments(name)).toMatchObject({ code: 2, stdout: '' });
      expect(await listed('--hidden')).toEqual([]);
    },
  );

  test('a reason that cannot be stored is refused with exit code 2', async () => {
    expect(await comments('hide', await add('One'), '--reason', '\ud800')).toMatchObject({ code: 2, stdout: '' });
  });
});
