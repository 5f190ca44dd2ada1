import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AddedComment, CommentPage } from '../../src/contract/comments/schema.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import type { ProductDetail, StoredProduct } from '../../src/contract/products/schema.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { BROKEN_UTF8, HOSTILE_BODIES } from '../hostile/bodies.ts';
import { HOSTILE, hostileTextsFor } from '../hostile/corpus.ts';
import { encode } from '../hostile/requests.ts';
import { buildProduct } from '../support/build-product.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const { log, lines, text: logText } = createLogLines();
let site: TestSite;
let id: string;

beforeAll(async () => {
  // Enables the cache, as in production. Without it, each unknown URL would render the same 404 page again.
  site = await startTestSite({ log, cacheEnabled: true });
  id = (await site.addProduct({ name: 'Harbour', tags: ['calm'] })).id;
});

afterAll(async () => {
  // After all requests, no failure is logged, no prototype is polluted, and no data is missing.
  expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect((await site.ask.get(`/api/products/${id}`)).statusCode).toBe(200);
  await site.close();
});

/** Adds products with one statement, because hundreds of statements would take longer than the tests. */
async function addProducts(overrides: readonly Parameters<typeof buildProduct>[0][]): Promise<StoredProduct[]> {
  const products = overrides.map((each) => buildProduct(each));
  await saveProducts(site.database, products);
  return products;
}

/** Expects a success or a well-formed error. */
function expectResponse(what: string, response: LightMyRequestResponse): void {
  expect([what, response.statusCode < 500, response.body]).toEqual([what, true, response.body]);
  if (response.statusCode >= 400 && response.headers['content-type']?.toString().includes('json')) {
    expect([what, response.headers['content-type']]).toEqual([what, 'application/problem+json; charset=utf-8']);
    expect(response.json()).toMatchObject({ status: response.statusCode, code: expect.any(String), detail: /./ });
  }
  const broken = Object.entries(response.headers).filter(([, value]) => /[\r\n]/.test(String(value)));
  expect([what, broken]).toEqual([what, []]);
}

// The following texts are listed by name, because computing them would duplicate the checks under test.
/** Texts that cannot be stored, because they contain a NUL or invalid Unicode. */
const UNSTORABLE = [
  ...['control character 0', 'NUL', 'NUL at the end', 'NUL before a script'],
  ...[1, 2, 3, 4, 5, 6].map((number) => `lone surrogate ${number}`),
];
/** Texts without visible characters: only invisible ones, or marks without a letter. */
const BLANK = [
  ...['line breaks 6', 'line breaks 7', 'line breaks 8', 'overlong 5'],
  ...['direction of writing 9', 'invisible and odd spaces 12', 'emoji 8', 'emoji 9', 'zalgo 3'],
];
/** Texts of more than 2,000 characters. */
const TOO_LONG = ['overlong 2', 'overlong 3'];

test('there are at least 300 hostile texts and bodies, and no text is listed twice', () => {
  expect(new Set(HOSTILE.map(({ text }) => text)).size).toBe(HOSTILE.length);
  expect(HOSTILE.length + HOSTILE_BODIES.length + BROKEN_UTF8.length).toBeGreaterThanOrEqual(300);
});

test('a comment with a hostile text is refused, or stored unchanged except for trimming', async () => {
  const refused = new Set([...UNSTORABLE, ...BLANK, ...TOO_LONG]);
  expect(HOSTILE.filter(({ name }) => refused.has(name))).toHaveLength(refused.size);
  const products = await addProducts(HOSTILE.map(() => ({})));
  for (const [index, { name, text }] of HOSTILE.entries()) {
    const product = products[index] ?? expect.unreachable();
    const response = await site.ask.post('/api/comments', { productId: product.id, content: text }, newVisitor());
    expectResponse(name, response);
    const trimmed = text.trim();
    const isGood = !refused.has(name);
    expect([name, response.statusCode]).toEqual([
      name,
      isGood ? 201 : expect.toSatisfy((status) => [400, 413, 422].includes(status)),
    ]);
    const { items, total } = await site.ask.json<CommentPage>(`/api/products/${product.id}/comments`);
    expect([name, total, items.map(({ content }) => content)]).toEqual(isGood ? [name, 1, [trimmed]] : [name, 0, []]);
    if (isGood) expect(response.json<AddedComment>().comment.content).toBe(trimmed);
  }
});

test('a hostile text in a product is returned exactly by the API, is found by search, and does not break the page', async () => {
  const storable = HOSTILE.filter(({ name }) => !UNSTORABLE.includes(name));
  const products = await addProducts(
    storable.map(({ text }) => {
      const around = `(${text})`;
      return { name: around, description: around, tags: [around], maker: around, category: around };
    }),
  );
  const searched = new Set(hostileTextsFor(0));
  for (const [index, hostile] of storable.entries()) {
    const { name, text } = hostile;
    const around = `(${text})`;
    const product = products[index] ?? expect.unreachable();
    const shown = (await site.ask.json<ProductDetail>(`/api/products/${product.id}`)).product;
    expect(shown).toMatchObject({ name: around, description: around, maker: around, category: around });
    if (!searched.has(hostile) || [...text].length > LIMITS.searchCharacters) continue;
    const found = await site.ask.get(`/api/products?q=${encodeURIComponent(text)}&limit=100`);
    expectResponse(name, found);
    const ids = found.json<{ items: { id: string }[] }>().items.map((item) => item.id);
    expect([name, ids.includes(product.id)]).toEqual([name, true]);
    expectResponse(name, await site.ask.get(`/product/${product.id}`));
  }
});

const PLACES: [name: string, send: (text: string) => Promise<LightMyRequestResponse>][] = [
  ['a search', (text) => site.ask.get(`/api/products?q=${encode(text)}`)],
  ['a tag', (text) => site.ask.get(`/api/products?tag=${encode(text)}`)],
  ['a sort', (text) => site.ask.get(`/api/products?sort=${encode(text)}`)],
  ['a limit', (text) => site.ask.get(`/api/products?limit=${encode(text)}`)],
  ['a cursor', (text) => site.ask.get(`/api/products?cursor=${encode(text)}`)],
  ['a cursor of comments', (text) => site.ask.get(`/api/products/${id}/comments?cursor=${encode(text)}`)],
  ['the name of a parameter', (text) => site.ask.get(`/api/products?${encode(text)}=1&${encode(text)}[x]=2`)],
  ['a parameter given twice', (text) => site.ask.get(`/api/products?q=a&q=${encode(text)}`)],
  ['the id of a product', (text) => site.ask.get(`/api/products/${encode(text)}`)],
  ['the id in a list of comments', (text) => site.ask.get(`/api/products/${encode(text)}/comments`)],
  [
    'the id in a list of held comments',
    (text) => site.ask.get(`/api/products/${encode(text)}/comments/held`, newVisitor()),
  ],
  ['the id in an upvote', (text) => site.ask.put(`/api/products/${encode(text)}/upvote`, newVisitor())],
  ['the id in a withdrawal', (text) => site.ask.delete(`/api/products/${encode(text)}/upvote`, newVisitor())],
  ['the ids in a request for upvotes', (text) => site.ask.get(`/api/upvotes?products=${encode(text)}`, newVisitor())],
  ['the id of a comment', (text) => site.ask.post(`/api/comments/${encode(text)}/like`, undefined, newVisitor())],
  [
    'the product of a comment',
    (text) => site.ask.post('/api/comments', { productId: text, content: 'x' }, newVisitor()),
  ],
  [
    'the honeypot field',
    (text) => site.ask.post('/api/comments', { productId: id, content: 'x', website: text }, newVisitor()),
  ],
  ['an unknown field', (text) => site.ask.post('/api/comments', { [text]: text }, newVisitor())],
  ['a URL of the API', (text) => site.ask.get(`/api/${encode(text)}`)],
  ['a URL', (text) => site.ask.get(`/${encode(text)}`)],
  ['the id of a product page', (text) => site.ask.get(`/product/${encode(text)}`)],
  ['a page’s search', (text) => site.ask.get(`/?q=${encode(text)}&tag=${encode(text)}&sort=${encode(text)}`)],
  ['a page’s cursor', (text) => site.ask.get(`/product/${id}?comments=${encode(text)}`)],
  ['a picture', (text) => site.ask.get(`/pictures/${encode(text)}`)],
  ['an asset', (text) => site.ask.get(`/assets/${encode(text)}`)],
  ['a session', (text) => site.ask.put(`/api/products/${id}/upvote`, { 'x-user-session': text })],
  [
    'an idempotency key',
    (text) =>
      site.ask.post('/api/comments', { productId: id, content: 'x' }, { ...newVisitor(), 'idempotency-key': text }),
  ],
  ['an ETag', (text) => site.ask.get('/api/products?limit=1', { 'if-none-match': text })],
  ['an encoding', (text) => site.ask.get('/api/products?limit=1', { 'accept-encoding': text })],
  [
    'a forwarded address',
    (text) => site.ask.put(`/api/products/${id}/upvote`, { ...newVisitor(), 'x-forwarded-for': text }),
  ],
  ['a media type', (text) => site.ask.post('/api/comments', 'x', { ...newVisitor(), 'content-type': text })],
];

describe('hostile requests', () => {
  test.each(PLACES.map(([place, send], number) => [place, number, send] as const))(
    'hostile texts as %s get a success or a well-formed error',
    async (_, number, send) => {
      for (const { name, text } of hostileTextsFor(number)) expectResponse(name, await send(text));
    },
  );

  test.each([...HOSTILE_BODIES, ...BROKEN_UTF8])('a hostile body gets no 5xx: $name', async ({ name, body }) => {
    for (const url of ['/api/comments', '/api/comments/x/like', `/api/products/${id}/upvote`]) {
      const response = await site.app.inject({
        method: url.endsWith('upvote') ? 'PUT' : 'POST',
        url,
        headers: { ...newVisitor(), 'content-type': 'application/json' },
        payload: body,
      });
      expectResponse(name, response);
      if (url === '/api/comments') expect([name, response.statusCode >= 400]).toEqual([name, true]);
    }
  });

  test.each(['%', '%2', '%zz', '%ff', '%c0%ae', '%ed%a0%80', '%u0041', '%f8%88%80%80%80'])(
    'an invalid escape in a URL is refused: %s',
    async (broken) => {
      for (const url of [`/api/products/${broken}`, `/api/products?q=${broken}`, `/api/products?${broken}=1`]) {
        const response = await site.ask.get(url);
        expectResponse(url, response);
        expect([url, response.statusCode]).toEqual([url, 400]);
      }
      for (const url of [`/${broken}`, `/product/${broken}`])
        expect([url, (await site.ask.get(url)).statusCode]).toEqual([url, 404]);
      expectResponse(broken, await site.ask.get(`/?q=${broken}`));
    },
  );
});

test('the log contains no session ids', () => {
  expect(logText()).not.toMatch(/session-[0-9a-f]{8}-/);
});
