import { describe, expect, test } from 'vitest';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { listAddress, startProductListSite } from '../support/product-list-site.ts';

const on = startProductListSite();
const { list, ids, addMany } = on;

describe('the search for a literal, case-insensitive substring (SPEC section 5)', () => {
  const search = async (q: string) => (await list({ q })).items.map(({ name }) => name).sort();

  test('matches only the name and the description', async () => {
    await on.site.addProduct({ name: 'Needle one', description: 'x' });
    await on.site.addProduct({ name: 'two', description: 'with a needle inside' });
    await on.site.addProduct({
      name: 'three',
      description: 'x',
      maker: 'Needle',
      category: 'Needle',
      tags: ['needle'],
    });
    expect(await search('needle')).toEqual(['Needle one', 'two']);
  });

  test('treats %, _ and \\ as ordinary characters', async () => {
    for (const name of ['100% sure', '100 sure', 'snake_case', 'snakeXcase', 'C:\\dir', 'C:dir']) {
      await on.site.addProduct({ name, description: '-' });
    }
    expect(await search('%')).toEqual(['100% sure']);
    expect(await search('_')).toEqual(['snake_case']);
    expect(await search('\\')).toEqual(['C:\\dir']);
    expect(await search('0% s')).toEqual(['100% sure']);
    expect(await search('e_c')).toEqual(['snake_case']);
    expect(await search('\\%')).toEqual([]);
  });

  test('treats quotes, SQL comments and statements as ordinary text', async () => {
    await on.site.addProduct({ name: "Rock 'n' roll", description: '-' });
    expect(await search("'n'")).toEqual(["Rock 'n' roll"]);
    expect(await search("'; DROP TABLE products; --")).toEqual([]);
    expect(await search("' OR '1'='1")).toEqual([]);
    expect(await search('$1')).toEqual([]);
    expect(await search('rock')).toEqual(["Rock 'n' roll"]);
  });

  test.each([
    ['Latin', 'ÉCLAIR', 'éclair', 'ÉcLaIr'],
    ['Greek', 'Οδυσσεύς', 'ΟΔΥΣΣΕΎΣ', 'οδυσσεύσ'],
    ['Cyrillic', 'Журнал', 'ЖУРНАЛ', 'журнал'],
    ['Georgian', 'თბილისი', 'ᲗᲑᲘᲚᲘᲡᲘ', 'თბილისი'],
    ['Armenian', 'Երեվան', 'ԵՐԵՎԱՆ', 'երեվան'],
    ['a script without case', '製品🚀', '製品🚀', '品🚀'],
    ['composed and decomposed characters', 'Café', 'cafe\u0301', 'CAFÉ'],
  ])('ignores case: %s', async (_script, name, ...terms) => {
    await on.site.addProduct({ name, description: '-' });
    for (const term of terms) expect(await search(term), term).toEqual([name]);
  });

  test('accepts a single character, and an empty term finds everything', async () => {
    await on.site.addProduct({ name: 'Xylo', description: '-' });
    await on.site.addProduct({ name: 'Alto', description: '-' });
    expect(await search('x')).toEqual(['Xylo']);
    expect(await search('')).toEqual(['Alto', 'Xylo']);
  });

  test('distinguishes single and double spaces inside a term', async () => {
    await on.site.addProduct({ name: 'Big wave', description: '-' });
    expect(await search('g w')).toEqual(['Big wave']);
    expect(await search('g  w')).toEqual([]);
  });

  test('does not match a term across name and description', async () => {
    await on.site.addProduct({ name: 'wave', description: 'rider' });
    for (const term of ['waverider', 'wave rider', 'wave\nrider', '\n']) expect(await search(term), term).toEqual([]);
    await on.site.addProduct({ name: 'two lines', description: 'wave\nrider' });
    expect(await search('wave\nrider')).toEqual(['two lines']);
  });

  test('finds a changed product only by its new words', async () => {
    const product = await on.site.addProduct({ name: 'Before' });
    await saveProducts(on.site.database, [{ ...product, name: 'After' }]);
    expect(await search('before')).toEqual([]);
    expect(await search('after')).toEqual(['After']);
  });

  test('accepts 200 characters, and rejects 201 with 400', async () => {
    const name = '🌊'.repeat(200);
    await on.site.addProduct({ name });
    expect(await search(name)).toEqual([name]);
    expectProblem(await on.site.ask.get(listAddress({ q: `${name}x` })), 400, 'bad_request', /q.*200/);
  });

  test('returns 400 for a NUL, which no row can contain', async () => {
    expectProblem(await on.site.ask.get('/api/products?q=a%00b'), 400, 'bad_request', /q/);
  });

  test('does not cause a server error for invalid percent-encoding', async () => {
    expect((await on.site.ask.get('/api/products?q=%E0%A4%A')).statusCode).toBeLessThan(500);
    expect((await on.site.ask.get('/api/products?q=%FF')).statusCode).toBeLessThan(500);
  });

  test('can be combined with tag, sort and paging', async () => {
    await addMany(5, (index) => ({ name: `Wave ${index}`, tags: index % 2 === 0 ? ['even'] : ['odd'] }));
    const first = await list({ q: 'WAVE', tag: 'EVEN', sort: 'top', limit: 2 });
    const second = await list({ q: 'WAVE', tag: 'EVEN', sort: 'top', limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ name }) => name).sort()).toEqual(['Wave 0', 'Wave 2', 'Wave 4']);
    expect(second.nextCursor).toBeNull();
  });
});

test('a result marks at most 50 matches in a text, and shows the whole text', async () => {
  await on.site.addProduct({ name: 'Kayak', description: 'a'.repeat(10_000) });
  const { body } = await on.site.ask.get('/?q=A');
  const [, name = ''] = /<h3 class="product-card-name">(.*?)<\/h3>/.exec(body) ?? [];
  const [, description = ''] = /<p class="product-card-description"[^>]*>(.*?)<\/p>/.exec(body) ?? [];
  const marks = (html: string) => html.match(/<mark>a<\/mark>/g)?.length;
  expect([marks(name), marks(description)]).toEqual([2, 50]);
  expect(description.replace(/<[^>]*>/g, '')).toBe('a'.repeat(10_000));
});

describe('the tag filter, which is exact but ignores case', () => {
  test('matches whole tags in any case, and every character literally', async () => {
    await on.site.addProduct({ id: 'a', tags: ['JavaScript', 'C++'] });
    await on.site.addProduct({ id: 'b', tags: ['java', '100%'] });
    await on.site.addProduct({ id: 'c', tags: ['ПРИВЕТ', 'x,y', '{z}'] });
    expect(await ids({ tag: 'JAVASCRIPT' })).toEqual(['a']);
    expect(await ids({ tag: 'Java' })).toEqual(['b']);
    expect(await ids({ tag: 'c++' })).toEqual(['a']);
    expect(await ids({ tag: 'привет' })).toEqual(['c']);
    expect(await ids({ tag: 'X,Y' })).toEqual(['c']);
    expect(await ids({ tag: '{z}' })).toEqual(['c']);
    for (const tag of ['jav', '%', '10_%', 'x', 'y', "'"]) expect(await ids({ tag }), tag).toEqual([]);
  });

  test('accepts an empty tag, which finds everything, and rejects 61 characters with 400', async () => {
    await addMany(2);
    expect(await ids({ tag: '' })).toHaveLength(2);
    expectProblem(await on.site.ask.get(listAddress({ tag: 'x'.repeat(61) })), 400, 'bad_request', /tag/);
  });
});
