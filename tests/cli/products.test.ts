import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RemovedProductRecord } from '../../src/contract/console/records.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { createCore } from '../../src/core/core.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import type { InspectedProduct } from '../../src/core/products/get-product.ts';
import type { RemovedProduct } from '../../src/core/products/remove-products.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { jsonOf, runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.query('DELETE FROM removed_products');
  await database.query('DELETE FROM products');
});

afterAll(async () => {
  expect((await checkCounts(database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  await database.drop();
});

const settings = () => ({ DATABASE_URL: database.url });
const products = (...parameters: string[]) => runProgram(['products', ...parameters], settings());
const json = <Result>(...parameters: string[]) => jsonOf<Result>(['products', ...parameters], settings());

async function add(overrides: Parameters<typeof buildProduct>[0] = {}, upvotes = 0, comments = 0): Promise<string> {
  const product = buildProduct({ id: `p-${randomUUID()}`, ...overrides });
  await saveProducts(database, [product]);
  const core = createCore(database);
  for (let index = 0; index < upvotes; index += 1)
    await core.setUpvote({ productId: product.id, session: `session-${index}`, upvoted: true });
  for (let index = 0; index < comments; index += 1)
    await core.addComment({ productId: product.id, content: `Comment ${index}` }, { session: 'session-a' });
  return product.id;
}

const idsOf = async (...flags: string[]) =>
  (await json<{ products: Product[] }>('list', ...flags)).products.map(({ id }) => id);

describe('products list', () => {
  test('lists products in each sort order, up to the limit', async () => {
    await add({ id: 'b', name: 'beta', createdAt: '2026-01-02T00:00:00.000Z' }, 2, 1);
    await add({ id: 'a', name: 'Alpha', createdAt: '2026-01-01T00:00:00.000Z' }, 1, 2);
    await add({ id: 'c', name: 'Gamma', createdAt: '2026-01-03T00:00:00.000Z' });
    expect(await idsOf()).toEqual(['c', 'b', 'a']);
    expect(await idsOf('--sort', 'newest')).toEqual(['c', 'b', 'a']);
    expect(await idsOf('--sort', 'top')).toEqual(['b', 'a', 'c']);
    expect(await idsOf('--sort', 'discussed')).toEqual(['a', 'b', 'c']);
    expect(await idsOf('--sort', 'name')).toEqual(['a', 'b', 'c']);
    expect(await idsOf('--sort', 'name', '--limit', '2')).toEqual(['a', 'b']);
  });

  test('filters by text, tag, category and time, separately and combined', async () => {
    await add({
      id: 'x',
      name: '100% Straße',
      tags: ['Database', 'CLI'],
      category: 'Tools',
      createdAt: '2026-03-01T12:00:00.000Z',
    });
    await add({
      id: 'y',
      description: 'a DATABASE of names',
      category: 'tools',
      createdAt: '2026-02-28T23:59:59.999Z',
    });
    await add({ id: 'z', name: 'Other', tags: ['database engine'], createdAt: '2026-01-01T00:00:00.000Z' });
    expect(await idsOf('--text', 'database')).toEqual(['y']);
    expect(await idsOf('--text', '0% STRASSE'.replace('SS', 'ß'))).toEqual(['x']);
    expect(await idsOf('--text', '%')).toEqual(['x']);
    expect(await idsOf('--tag', 'database')).toEqual(['x']);
    expect(await idsOf('--category', 'TOOLS')).toEqual(['x', 'y']);
    expect(await idsOf('--since', '2026-03-01')).toEqual(['x']);
    expect(await idsOf('--since', '2026-03-01T01:59:59.999+02:00')).toEqual(['x', 'y']);
    expect(await idsOf('--category', 'tools', '--since', '2026-02-01', '--text', 'names', '--sort', 'top')).toEqual([
      'y',
    ]);
    expect(await idsOf('--text', 'nothing has this')).toEqual([]);
    expect((await products('list', '--text', 'nothing has this')).stdout).toBe('No products match.\n');
  });

  test('prints a table whose layout no name can break', async () => {
    await add({ id: 'evil', name: '\u001b[2J\u202eevil\r\nname', category: '道具' }, 1, 2);
    const { code, stdout } = await products('list');
    expect(code).toBe(0);
    const [titles, row, ...others] = stdout.trimEnd().split('\n');
    expect(others).toEqual([]);
    expect(titles).toMatch(/^ID +NAME +CATEGORY +LAUNCHED +UPVOTES +COMMENTS$/);
    expect(row).toMatch(/^evil +\\u\{1b\}\[2J\\u\{202e\}evil\\u\{d\}\\nname +道具 +2026-01-01 +1 +2$/);
  });

  test.each([
    [['--sort', 'oldest'], /newest, top, discussed, name/],
    [['--limit', '0'], /number from 1 to 1000/],
    [['--limit', '1001'], /number from 1 to 1000/],
    [['--limit', 'ten'], /number from 1 to 1000/],
    [['--since', 'yesterday'], /such as 2026-01-31/],
    [['--since', '2026-02-30'], /such as 2026-01-31/],
    [['--since', '2026-02-30T00:00:00Z'], /such as 2026-01-31/],
    [['--text', ''], /must not be empty/],
    [['--tag', '\ud800'], /lone surrogates/],
    [['--nonsense'], /unknown option/],
    [['something'], /too many arguments/],
    [['--removed', '--text', 'x'], /'--removed' cannot be used with option '--text/],
    [['--removed', '--since', '2026-01-01'], /'--removed' cannot be used with option '--since/],
    [['--removed', '--sort', 'newest'], /'--removed' cannot be used with option '--sort/],
    [['--scheduled', '--removed'], /'--removed' cannot be used with option '--scheduled'/],
  ])('%j is refused with exit code 2', async (flags, message) => {
    const { code, stdout, stderr } = await products('list', ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('products show', () => {
  test('shows the whole product, and how many of its comments are not public', async () => {
    const id = await add(
      {
        name: 'Tide\u001b[31m',
        tags: ['a', 'b'],
        team: [{ name: 'Ada', avatar: '', role: 'Maker' }],
        screenshots: ['/one.webp'],
      },
      3,
      2,
    );
    // A comment that was held and is hidden counts only as hidden, because it no longer waits for a decision.
    const state = "held_session = '', hidden_at = now()";
    await database.query(`UPDATE comments SET ${state} WHERE product_id = $1 AND content = 'Comment 0'`, [id]);
    await database.query('UPDATE product_counts SET comments = 1 WHERE product_id = $1', [id]);
    const shown = await json<InspectedProduct>('show', id);
    const product = { id, upvotes: 3, comments: 1 };
    expect(shown).toMatchObject({ product, heldComments: 0, hiddenComments: 1, removals: [] });
    const { stdout } = await products('show', id);
    for (const line of [
      /^Name +Tide\\u\{1b\}\[31m$/m,
      /^Tags +a, b$/m,
      /^Team +Ada, Maker$/m,
      /^Screenshot +\/one\.webp$/m,
      /^Upvotes +3$/m,
      /^Comments +1 public, 0 held, 1 hidden$/m,
    ])
      expect(stdout).toMatch(line);
  });

  test('shows the removal of a removed product', async () => {
    const id = await add({ name: 'Gone' }, 1);
    await products('remove', '--yes', id);
    expect(await json<InspectedProduct>('show', id)).toMatchObject({
      product: null,
      removals: [{ id, name: 'Gone', upvotes: 1 }],
    });
    expect((await products('show', id)).stdout).toMatch(
      /^Removed +\d{4}-.*Gone.*1 upvote.*\(removal [0-9a-f-]{36}\)$/m,
    );
  });

  test('exits 1 for an unknown product and 2 for an invalid id', async () => {
    const unknown = await products('show', 'no-such-product', '--json');
    expect(unknown).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "groundswell: there is no current or removed product 'no-such-product': `groundswell products list` lists the ids\n",
    });
    expect(await products('show', 'No\u001b[2J')).toEqual({
      code: 2,
      stdout: '',
      stderr: "groundswell: 'No\\u{1b}[2J' is not a product id. Use 1 to 64 characters from a-z, 0-9 and -.\n",
    });
    expect((await products('show')).code).toBe(2);
    expect((await products('show', 'a', 'b')).code).toBe(2);
  });
});

test('products edit reads JSON in lists and teams, but leaves a text that looks like JSON unchanged', async () => {
  const id = await add();
  const set = ['name=["Tide"]', 'description=[beta]', 'tags=["a, b","c"]', 'team=[{"name":"Ada","role":"Maker"}]'];
  const { product } = await json<{ product: Product }>('edit', id, ...set.flatMap((each) => ['--set', each]));
  expect(product).toMatchObject({ name: '["Tide"]', description: '[beta]', tags: ['a, b', 'c'] });
  expect(product.team).toMatchObject([{ name: 'Ada', role: 'Maker' }]);
});

describe('products remove', () => {
  test('reports the removed products, and list --removed shows the removal', async () => {
    const [one, two, three] = [await add({}, 2, 1), await add({}, 1), await add({}, 1, 1)];
    expect(await products('remove', '--yes', one, two)).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'Removed 2 products with 3 upvotes and 1 comment. `groundswell products undo` reverts the last removal.\n',
    });
    expect(await idsOf()).toEqual([three]);
    expect((await json<{ removed: RemovedProduct[] }>('remove', '--yes', three)).removed).toMatchObject([
      { id: three, upvotes: 1, comments: 1 },
    ]);
    expect(await idsOf()).toEqual([]);
    const { removals } = await json<{ removals: RemovedProductRecord[] }>('list', '--removed');
    expect(removals[0]?.id).toBe(three);
    expect(removals.map(({ id }) => id).sort()).toEqual([one, two, three].sort());
    expect((await products('list', '--removed', '--limit', '1')).stdout).toMatch(
      new RegExp(`^ID +NAME +REMOVED \\(UTC\\) +UPVOTES +COMMENTS +REMOVAL\\n${three} .*\\n$`),
    );
  });

  test('exits 1, removes nothing and names the unknown product if one id is unknown', async () => {
    const id = await add();
    const { code, stdout, stderr } = await products('remove', '--yes', id, 'no-such-product');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      'nothing was removed, because these products do not exist: no-such-product; `groundswell products list` ',
    );
    expect(await idsOf()).toEqual([id]);
  });

  test('without a terminal, exits 2 and removes nothing unless --yes is given', async () => {
    const id = await add();
    const { code, stdout, stderr } = await products('remove', id);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^groundswell: .*Add --yes\.\n$/);
    expect(await idsOf()).toEqual([id]);
  });

  test.each([[['--yes']], [['--yes', 'Not An Id']], [['--yes', '../etc']]])(
    '%j is refused with exit code 2',
    async (parameters) => {
      expect(await products('remove', ...parameters)).toMatchObject({ code: 2, stdout: '' });
    },
  );
});

describe('products undo and restore', () => {
  test('undo reverts the last removal, then the one before, and then exits 1', async () => {
    const [one, two, three] = [await add({}, 1), await add(), await add({}, 2, 1)];
    await products('remove', '--yes', three);
    await products('remove', '--yes', one, two);
    const { restored } = await json<{ restored: RemovedProduct[] }>('undo');
    expect(restored.map(({ id }) => id).sort()).toEqual([one, two].sort());
    expect(await products('undo')).toEqual({
      code: 0,
      stderr: '',
      stdout: `Restored 1 product with 2 upvotes and 1 comment: ${three}.\n`,
    });
    expect(await products('undo')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundswell: nothing was restored: there is no removal to undo\n',
    });
    expect((await idsOf()).sort()).toEqual([one, two, three].sort());
  });

  test('restore brings back the named products', async () => {
    const [one, two] = [await add({}, 1), await add()];
    await products('remove', '--yes', one, two);
    expect((await json<{ restored: RemovedProduct[] }>('restore', two)).restored).toMatchObject([{ id: two }]);
    expect(await idsOf()).toEqual([two]);
    expect((await products('restore', two, one)).stderr).toBe(
      `groundswell: nothing was restored: there is no removal of ${two}\n`,
    );
    expect(await idsOf()).toEqual([two]);
    expect((await products('restore', one)).code).toBe(0);
  });

  test('a product whose id is reused is not restored by undo, but can be restored by its removal id in upper or lower case', async () => {
    const id = await add({ name: 'First' }, 1);
    await products('remove', '--yes', id);
    await add({ id, name: 'Second' });
    const refused = await products('undo');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain(`other products now have these ids: ${id}.`);
    expect((await json<InspectedProduct>('show', id)).product).toMatchObject({ name: 'Second', upvotes: 0 });
    await products('remove', '--yes', id);
    const { removals } = await json<{ removals: RemovedProductRecord[] }>('list', '--removed');
    const first = removals.find(({ name }) => name === 'First');
    expect((await products('restore', '--removal', first?.removalId.toUpperCase() ?? '')).code).toBe(0);
    expect((await json<InspectedProduct>('show', id)).product).toMatchObject({ name: 'First', upvotes: 1 });
  });

  test.each([
    [['restore'], 2, /Specify either product ids or --removal/],
    [['restore', 'a', '--removal', randomUUID()], 2, /Specify either product ids or --removal/],
    [['restore', 'No Id'], 2, /is not a product id/],
    [['restore', '--removal', 'git'], 2, /is not a removal id/],
    [['restore', '--removal', '0f8fad5b-d9cb-469f-a165-70867728950e'], 1, /there is no removal of 0f8fad5b/],
    [['restore', 'never-removed'], 1, /there is no removal of never-removed/],
    [['undo', 'git'], 2, /too many arguments/],
  ])('%j is refused with exit code %i', async (parameters, code, message) => {
    const run = await products(...parameters);
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code, stdout: '' });
    expect(run.stderr).toMatch(message);
  });
});
