import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Product, ProductDetail, ProductPage } from '../../src/contract/products/schema.ts';
import type { StoredProduct } from '../../src/core/products/complete-product.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite();
});

beforeEach(async () => {
  await site.database.query('DELETE FROM products');
});

afterAll(() => site.close());

type Query = Record<string, string | number>;

const addressOf = (query: Query) =>
  `/api/products?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`;
const list = (query: Query = {}) => site.ask.json<ProductPage>(addressOf(query));
const ids = async (query: Query = {}) => (await list(query)).items.map(({ id }) => id);
const neighbours = async (id: string) => {
  const { previousId, nextId } = await site.ask.json<ProductDetail>(`/api/products/${id}`);
  return [previousId, nextId];
};

async function addMany(count: number, overrides: (index: number) => Partial<StoredProduct> = () => ({})) {
  const products = Array.from({ length: count }, (_, index) => buildProduct(overrides(index)));
  await saveProducts(site.database, products);
  return products;
}

async function setCounts(id: string, counts: { upvotes?: number; comments?: number }) {
  const { upvotes = 0, comments = 0 } = counts;
  await site.database.query('UPDATE product_counts SET upvotes = $2, comments = $3 WHERE product_id = $1', [
    id,
    upvotes,
    comments,
  ]);
}

describe('GET /api/products (api.md, Endpoints)', () => {
  test('a list without products is empty and has no next page', async () => {
    expect(await list()).toEqual({ items: [], nextCursor: null });
  });

  test('a product has just the fields of api.md, Shapes, and comes back verbatim', async () => {
    const product = await site.addProduct({
      id: 'wave-rider-2',
      name: 'Wave 🌊 Rider — שלום e\u0301 é ‮',
      description: 'Line one\r\nLine two\t<b>&amp;</b> \u200B👩‍👩‍👧‍👦 ｆｕｌｌ ﬁ',
      tags: ['C++', 'naïve', 'ひらがな', 'naïve'],
      category: 'Tools & Toys',
      maker: "O'Brien \\ Sons",
      launchDate: 'Spring 2026',
      team: [{ name: 'Ada "the first" Lovelace', avatar: '/a.svg', role: 'Maker' }],
      screenshots: ['/s1.png', 'https://example.com/s2.png?a=1&b=2'],
      createdAt: '2026-02-03T04:05:06.789Z',
    });
    expect((await list()).items).toEqual([{ ...product, upvotes: 0, comments: 0 }]);
  });

  test('a product with nothing but an id shows every default of SPEC section 3', async () => {
    await site.addProduct({ name: undefined, description: undefined, id: 'bare' });
    expect((await list()).items[0]).toMatchObject({
      name: 'Untitled Product',
      description: 'No description available',
      image: '/pictures/placeholder.svg',
      tags: [],
      category: 'Uncategorized',
      maker: 'Unknown Maker',
      launchDate: 'Today',
      team: [],
      screenshots: [],
    });
  });

  test('30 products a page by default', async () => {
    await addMany(31);
    const { items, nextCursor } = await list();
    expect(items).toHaveLength(30);
    expect(nextCursor).toEqual(expect.any(String));
  });

  test.each([1, 100])('limit=%i is the smallest or greatest page', async (limit) => {
    await addMany(101);
    expect((await list({ limit })).items).toHaveLength(limit);
  });

  test.each(['0', '101', '-1', '1.5', 'ten', '', '1e9', 'NaN', '10;DROP'])(
    'limit=%s is 400 bad_request and says which parameter',
    async (limit) => {
      expectProblem(await site.ask.get(addressOf({ limit })), 400, 'bad_request', /limit/);
    },
  );

  test.each(['best', '', 'TOP', 'constructor'])('sort=%s is 400 bad_request and says what there is', async (sort) => {
    expectProblem(await site.ask.get(addressOf({ sort })), 400, 'bad_request', /sort.*newest.*top.*discussed/);
  });

  test.each(['q=a&q=b', 'sort=top&sort=newest', 'limit=1&limit=2', 'tag=a&tag=b', 'cursor=a&cursor=b'])(
    'a parameter that is given twice (%s) is 400 bad_request',
    async (query) => {
      expectProblem(await site.ask.get(`/api/products?${query}`), 400, 'bad_request');
    },
  );

  test('parameters that mean nothing are passed over', async () => {
    await addMany(1);
    const page = await site.ask.json<ProductPage>('/api/products?utm_source=mail&__proto__=1&constructor=x');
    expect(page.items).toHaveLength(1);
  });
});

describe('search (api.md: literal, case-insensitive substring; SPEC section 5)', () => {
  const search = async (q: string) => (await list({ q })).items.map(({ name }) => name).sort();

  test('it finds in the name and in the description, and nowhere else', async () => {
    await site.addProduct({ name: 'Needle one', description: 'x' });
    await site.addProduct({ name: 'two', description: 'with a needle inside' });
    await site.addProduct({ name: 'three', description: 'x', maker: 'Needle', category: 'Needle', tags: ['needle'] });
    expect(await search('needle')).toEqual(['Needle one', 'two']);
  });

  test('%, _ and \\ are ordinary characters', async () => {
    for (const name of ['100% sure', '100 sure', 'snake_case', 'snakeXcase', 'C:\\dir', 'C:dir']) {
      await site.addProduct({ name, description: '-' });
    }
    expect(await search('%')).toEqual(['100% sure']);
    expect(await search('_')).toEqual(['snake_case']);
    expect(await search('\\')).toEqual(['C:\\dir']);
    expect(await search('0% s')).toEqual(['100% sure']);
    expect(await search('e_c')).toEqual(['snake_case']);
    expect(await search('\\%')).toEqual([]);
  });

  test('quotes, comments and statements find nothing and break nothing', async () => {
    await site.addProduct({ name: "Rock 'n' roll", description: '-' });
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
    ['without case', '製品🚀', '製品🚀', '品🚀'],
    ['composed or decomposed', 'Café', 'cafe\u0301', 'CAFÉ'],
  ])('case does not matter: %s', async (_script, name, ...terms) => {
    await site.addProduct({ name, description: '-' });
    for (const term of terms) expect(await search(term), term).toEqual([name]);
  });

  test('one character finds, an empty term narrows nothing', async () => {
    await site.addProduct({ name: 'Xylo', description: '-' });
    await site.addProduct({ name: 'Alto', description: '-' });
    expect(await search('x')).toEqual(['Xylo']);
    expect(await search('')).toEqual(['Alto', 'Xylo']);
  });

  test('space inside a term counts', async () => {
    await site.addProduct({ name: 'Big wave', description: '-' });
    expect(await search('g w')).toEqual(['Big wave']);
    expect(await search('g  w')).toEqual([]);
  });

  test('nothing is found across the border of name and description', async () => {
    await site.addProduct({ name: 'wave', description: 'rider' });
    for (const term of ['waverider', 'wave rider']) expect(await search(term), term).toEqual([]);
  });

  test('a changed product is found by its new words alone', async () => {
    const product = await site.addProduct({ name: 'Before' });
    await saveProducts(site.database, [{ ...product, name: 'After' }]);
    expect(await search('before')).toEqual([]);
    expect(await search('after')).toEqual(['After']);
  });

  test('200 characters are searched for, 201 are 400', async () => {
    const name = '🌊'.repeat(200);
    await site.addProduct({ name });
    expect(await search(name)).toEqual([name]);
    expectProblem(await site.ask.get(addressOf({ q: `${name}x` })), 400, 'bad_request', /q.*200/);
  });

  test('NUL, which no row can hold, is 400', async () => {
    expectProblem(await site.ask.get('/api/products?q=a%00b'), 400, 'bad_request', /q/);
  });

  test('broken percent-encoding in the query is no server error', async () => {
    expect((await site.ask.get('/api/products?q=%E0%A4%A')).statusCode).toBeLessThan(500);
    expect((await site.ask.get('/api/products?q=%FF')).statusCode).toBeLessThan(500);
  });

  test('search, tag, sort and paging work together', async () => {
    await addMany(5, (index) => ({ name: `Wave ${index}`, tags: index % 2 === 0 ? ['even'] : ['odd'] }));
    const first = await list({ q: 'WAVE', tag: 'EVEN', sort: 'top', limit: 2 });
    const second = await list({ q: 'WAVE', tag: 'EVEN', sort: 'top', limit: 2, cursor: first.nextCursor ?? '' });
    expect([...first.items, ...second.items].map(({ name }) => name).sort()).toEqual(['Wave 0', 'Wave 2', 'Wave 4']);
    expect(second.nextCursor).toBeNull();
  });
});

describe('tag (api.md: exact, case-insensitive)', () => {
  test('the whole tag, in any case, and every character of it literally', async () => {
    await site.addProduct({ id: 'a', tags: ['JavaScript', 'C++'] });
    await site.addProduct({ id: 'b', tags: ['java', '100%'] });
    await site.addProduct({ id: 'c', tags: ['ПРИВЕТ', 'x,y', '{z}'] });
    expect(await ids({ tag: 'JAVASCRIPT' })).toEqual(['a']);
    expect(await ids({ tag: 'Java' })).toEqual(['b']);
    expect(await ids({ tag: 'c++' })).toEqual(['a']);
    expect(await ids({ tag: 'привет' })).toEqual(['c']);
    expect(await ids({ tag: 'X,Y' })).toEqual(['c']);
    expect(await ids({ tag: '{z}' })).toEqual(['c']);
    for (const tag of ['jav', '%', '10_%', 'x', 'y', "'"]) expect(await ids({ tag }), tag).toEqual([]);
  });

  test('an empty tag narrows nothing; 61 characters are 400', async () => {
    await addMany(2);
    expect(await ids({ tag: '' })).toHaveLength(2);
    expectProblem(await site.ask.get(addressOf({ tag: 'x'.repeat(61) })), 400, 'bad_request', /tag/);
  });
});

describe('sort (api.md)', () => {
  test('newest: by creation, latest first, equal times by id descending', async () => {
    const createdAt = '2026-01-01T00:00:00.000Z';
    await site.addProduct({ id: 'b', createdAt });
    await site.addProduct({ id: 'c', createdAt: '2025-12-31T23:59:59.999Z' });
    await site.addProduct({ id: 'a', createdAt });
    await site.addProduct({ id: 'b-2', createdAt });
    expect(await ids()).toEqual(['b-2', 'b', 'a', 'c']);
    expect(await ids({ sort: 'newest' })).toEqual(['b-2', 'b', 'a', 'c']);
  });

  test('top: most upvotes first; discussed: most comments first; equal counts by id descending', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await site.addProduct({ id });
    await setCounts('a', { upvotes: 2, comments: 1 });
    await setCounts('b', { upvotes: 10, comments: 0 });
    await setCounts('c', { upvotes: 2, comments: 7 });
    expect(await ids({ sort: 'top' })).toEqual(['b', 'c', 'a', 'd']);
    expect(await ids({ sort: 'discussed' })).toEqual(['c', 'a', 'd', 'b']);
  });
});

describe('keyset paging (api.md, Conventions)', () => {
  const SORTS = ['newest', 'top', 'discussed'] as const;
  const TOTAL = 101;

  /** Walks every page; `between` happens before each next one. */
  async function walk(query: Query, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages += 1) {
      expect(pages, 'pages').toBeLessThan(200);
      const page: ProductPage = await list(cursor === '' ? query : { ...query, cursor });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      await between();
    }
    return seen;
  }

  async function addWithTies(): Promise<string[]> {
    // Seven at a time share a moment, so that every page border falls among equals in some sort.
    const products = await addMany(TOTAL, (index) => ({
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 7))).toISOString(),
    }));
    await site.database.query(
      `UPDATE product_counts SET upvotes = length(product_id) * 3 % 5, comments = ascii(right(product_id, 1)) % 4`,
    );
    return products.map(({ id }) => id).sort();
  }

  test.each(SORTS.flatMap((sort) => [1, 7, 30, 100].map((limit) => [sort, limit] as const)))(
    'sort=%s, limit=%i: all pages together are every product exactly once, in order',
    async (sort, limit) => {
      const all = await addWithTies();
      const seen = await walk({ sort, limit });
      expect([...seen].sort()).toEqual(all);
      expect(seen).toEqual(await walk({ sort, limit: 100 }));
    },
  );

  test.each(SORTS)('sort=%s: products that come while one pages move none of the others', async (sort) => {
    const all = await addWithTies();
    const seen = await walk({ sort, limit: 10 }, () => site.addProduct());
    expect(new Set(seen).size, 'none twice').toBe(seen.length);
    expect(seen.filter((id) => all.includes(id)).sort(), 'none missing').toEqual(all);
  });

  test('a product that goes away while one pages takes no other with it', async () => {
    const all = await addWithTies();
    const first = await list({ limit: 10 });
    // The very one that the cursor stands behind.
    const gone = first.items.at(-1)?.id ?? '';
    await site.database.query('DELETE FROM products WHERE id = $1', [gone]);
    const rest = await walk({ limit: 100, cursor: first.nextCursor ?? '' });
    expect([...first.items.map(({ id }) => id), ...rest].sort()).toEqual(all);
  });

  test('a page that is just full is known to be the last', async () => {
    await addMany(30);
    expect((await list({ limit: 30 })).nextCursor).toBeNull();
  });

  test('a cursor behind the last product gives an empty last page', async () => {
    await addMany(3);
    const { nextCursor } = await list({ limit: 2 });
    await site.database.query('DELETE FROM products');
    expect(await list({ cursor: nextCursor ?? '' })).toEqual({ items: [], nextCursor: null });
  });

  test('a cursor of another sort is 400 bad_cursor', async () => {
    await addMany(3);
    for (const sort of SORTS) {
      const { nextCursor } = await list({ sort, limit: 1 });
      for (const other of SORTS.filter((name) => name !== sort)) {
        expectProblem(await site.ask.get(addressOf({ sort: other, cursor: nextCursor ?? '' })), 400, 'bad_cursor');
      }
    }
  });

  test('a truncated cursor is 400 bad_cursor, wherever it was cut', async () => {
    await addMany(2);
    const cursor = (await list({ limit: 1 })).nextCursor ?? '';
    for (const length of [1, 2, 3, Math.floor(cursor.length / 2), cursor.length - 4]) {
      expectProblem(await site.ask.get(addressOf({ cursor: cursor.slice(0, length) })), 400, 'bad_cursor');
    }
  });

  test.each([
    ['garbage', 'garbage!'],
    ['SQL', encode("'; DROP TABLE products; --")],
    ['another shape', encode({ sort: 'newest' })],
    ['no keys', encode(['newest'])],
    ['SQL for an id', encode(['newest', '2026-01-01T00:00:00.000Z', "x' OR '1'='1"])],
    ['no time', encode(['newest', 'soon', 'a'])],
    ['a time that PostgreSQL would not take', encode(['newest', '+275760-09-13T00:00:00.000Z', 'a'])],
    ['nested keys', encode(['newest', ['2026-01-01T00:00:00.000Z'], 'a'])],
  ])('a forged cursor (%s) is 400 bad_cursor', async (_what, cursor) => {
    expectProblem(await site.ask.get(addressOf({ cursor })), 400, 'bad_cursor');
  });

  test('a cursor of more than 512 characters is 400', async () => {
    expectProblem(await site.ask.get(addressOf({ cursor: 'a'.repeat(513) })), 400, 'bad_request', /cursor/);
  });
});

describe('GET /api/products/:id (api.md, Endpoints)', () => {
  test('the product, with its counts', async () => {
    const product = await site.addProduct({ id: 'x' });
    await setCounts('x', { upvotes: 3, comments: 4 });
    expect(await site.ask.json('/api/products/x')).toEqual({
      product: { ...product, upvotes: 3, comments: 4 },
      previousId: null,
      nextId: null,
    });
  });

  test('neighbours are those of the default list, null at its ends, also among equal times', async () => {
    await addMany(9, (index) => ({
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, Math.floor(index / 3))).toISOString(),
    }));
    const order = await ids();
    for (const [index, id] of order.entries()) {
      expect(await neighbours(id)).toEqual([order[index - 1] ?? null, order[index + 1] ?? null]);
    }
  });

  test.each([
    ['unknown', 'nobody'],
    ['SQL', "'%20OR%20'1'='1"],
    ['a statement', '%27%3B%20DROP%20TABLE%20products%3B--'],
    ['upper case', 'X'],
    ['65 characters', 'x'.repeat(65)],
    ['1,000 characters', 'x'.repeat(1_000)],
    ['5,000 characters', 'x'.repeat(5_000)],
    ['NUL', '%00'],
    ['an encoded slash', 'a%2Fb'],
    ['a way up', '..%2F..%2Fetc'],
    ['a name that every object has', '__proto__'],
    ['no id', ''],
  ])('%s: 404 Product not found', async (_what, id) => {
    await site.addProduct({ id: 'x' });
    expectProblem(await site.ask.get(`/api/products/${id}`), 404, 'product_not_found', 'Product not found');
  });

  test('an id of 64 characters, and one of digits and dashes, are found', async () => {
    for (const id of ['x'.repeat(64), '-0-', '1']) {
      await site.addProduct({ id });
      expect((await site.ask.json<{ product: Product }>(`/api/products/${id}`)).product.id).toBe(id);
    }
  });
});

function encode(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
