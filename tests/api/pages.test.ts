import { once } from 'node:events';
import { get } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProductPage } from '../../src/contract/products/schema.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { inlineHash } from '../../src/server/http/security-headers.ts';
import { buildProduct } from '../support/build-product.ts';
import { deleteAllProducts } from '../support/delete-products.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const log = createLogLines();
let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ log: log.log });
});

beforeEach(async () => {
  await deleteAllProducts(site.database);
});

afterAll(() => site.close());

/** Returns the serialized state of a page, as the browser reads it. */
function stateOf(html: string): string {
  const [, state] = /<script type="application\/json" id="state">([\s\S]*?)<\/script>/.exec(html) ?? [];
  if (state === undefined) throw new Error('The page has no state');
  return state;
}

describe('GET / and /product/:id (api.md, Pages and files; SPEC section 2)', () => {
  test('the HTML of the list contains every product', async () => {
    await site.addProduct({ id: 'a', name: 'First wave' });
    await site.addProduct({ id: 'b', name: 'Second wave' });
    const response = await site.ask.get('/');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toMatch(/^<!doctype html>\n<html lang="en">/);
    for (const text of ['Top Products Launching Today', 'First wave', 'Second wave', 'href="/product/a"']) {
      expect(response.body).toContain(text);
    }
  });

  test('the HTML of a product has its name as heading and in the title, and contains its comments', async () => {
    await site.addProduct({ id: 'a', name: 'First wave', description: 'All about surfing.' });
    await site.ask.post('/api/comments', { productId: 'a', content: 'Said about it' }, newVisitor());
    const response = await site.ask.get('/product/a');
    expect(response.statusCode).toBe(200);
    expect(response.body).toMatch(/<h1[^>]*>First wave<\/h1>/);
    expect(response.body).toMatch(/<title>[^<]*First wave[^<]*<\/title>/);
    for (const text of ['All about surfing.', 'Said about it', 'Discussion']) expect(response.body).toContain(text);
  });

  test.each([
    ['/?q=second', ['Second wave'], ['First wave']],
    ['/?tag=RED', ['First wave'], ['Second wave']],
    ['/?q=nowhere', [], ['First wave', 'Second wave']],
  ])('the server renders %s with only the matching products', async (url, present, absent) => {
    await site.addProduct({ id: 'a', name: 'First wave', tags: ['red'] });
    await site.addProduct({ id: 'b', name: 'Second wave', tags: ['blue'] });
    const { statusCode, body } = await site.ask.get(url);
    expect(statusCode).toBe(200);
    for (const name of present) expect(body).toContain(name);
    for (const name of absent) expect(body).not.toContain(name);
  });

  test('the last page of a tag reports the number of products on all its pages', async () => {
    const saved = Array.from({ length: 21 }, (_, index) => buildProduct({ name: `Wave ${index}`, tags: ['red'] }));
    await saveProducts(site.database, saved);
    const first = await site.ask.get('/?tag=red');
    expect(first.body).toContain('20 or more products');
    const [, href = ''] = /href="(\/\?[^"]*cursor=[^"]*)"/.exec(first.body) ?? [];
    expect((await site.ask.get(href.replaceAll('&amp;', '&'))).body).toContain('>21 products<');
  });

  test.each(['/', '/product/a'])('HEAD %s returns 200 without a body', async (url) => {
    await site.addProduct({ id: 'a' });
    const response = await site.app.inject({ method: 'HEAD', url });
    expect([response.statusCode, response.body]).toEqual([200, '']);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('a page with unknown parameters returns 200', async () => {
    expect((await site.ask.get('/?utm_source=mail&__proto__=1')).statusCode).toBe(200);
  });
});

describe('a URL with invalid parameters or an escaped path redirects to the page’s own URL', () => {
  test.each([
    ['/?sort=best', '/'],
    ['/?sort=top&cursor=forged', '/?sort=top'],
    [`/?q=${'x'.repeat(201)}&sort=top`, '/?sort=top'],
    ['/?q=a%00b', '/'],
    ['/product/a?comments=forged', '/product/a'],
    ['/product/a%2F..?comments=forged', '/product/a%2F..'],
    ['/%70roduct/a', '/product/a'],
  ])('%s redirects to %s', async (url, location) => {
    const response = await site.ask.get(url);
    expect([response.statusCode, response.headers.location]).toEqual([302, location]);
  });

  test('a cursor of another sort order is invalid', async () => {
    await site.addProduct();
    await site.addProduct();
    const { nextCursor } = await site.ask.json<ProductPage>('/api/products?limit=1');
    expect((await site.ask.get(`/?cursor=${nextCursor}`)).statusCode).toBe(200);
    expect((await site.ask.get(`/?sort=top&cursor=${nextCursor}`)).headers.location).toBe('/?sort=top');
  });

  test('a cursor past the end of its list is invalid', async () => {
    const { id, createdAt } = await site.addProduct({ createdAt: new Date().toISOString() });
    await site.addProduct({ createdAt });
    for (const content of ['First', 'Second']) {
      await site.ask.post('/api/comments', { productId: id, content }, newVisitor());
    }
    const day = createdAt.slice(0, 10);
    await expect.poll(async () => (await site.ask.get(`/api/leaderboards/${day}`)).json().items?.length).toBe(2);
    const cursorOf = async (list: string) => (await site.ask.json<{ nextCursor: string }>(list)).nextCursor;
    const ofComments = `/product/${id}?comments=${await cursorOf(`/api/products/${id}/comments?limit=1`)}`;
    const ofProducts = [
      `/?cursor=${await cursorOf('/api/products?limit=1')}`,
      `/?sort=top&cursor=${await cursorOf('/api/products?sort=top&limit=1')}`,
      `/?board=${day}&cursor=${await cursorOf(`/api/leaderboards/${day}?limit=1`)}`,
    ];
    for (const url of [ofComments, ...ofProducts]) expect((await site.ask.get(url)).statusCode, url).toBe(200);
    const locationOf = async (url: string) => (await site.ask.get(url)).headers.location;
    await site.database.query('DELETE FROM comments');
    expect(await locationOf(ofComments)).toBe(`/product/${id}`);
    await deleteAllProducts(site.database);
    expect(await Promise.all(ofProducts.map(locationOf))).toEqual(['/', '/?sort=top', `/?board=${day}`]);
  });

  test('a later page of a search that stopped early is shown even if the search finds nothing', async () => {
    await site.addProduct();
    await site.addProduct();
    const { nextCursor } = await site.ask.json<ProductPage>('/api/products?limit=1');
    const cursor = nextCursor?.replace(/\d+$/, '0');
    const { statusCode, body } = await site.ask.get(`/?q=nowhere&cursor=${cursor}`);
    expect(statusCode).toBe(200);
    expect(body).toContain('Nothing on the horizon');
  });
});

describe('unknown URLs (SPEC sections 2 and 8)', () => {
  test.each(['nobody', 'X', 'x'.repeat(65), 'x'.repeat(3_000), '__proto__', 'a%2Fb'])(
    "the unknown product '%s' returns 404 'Product not found' with a link to the home page",
    async (id) => {
      const response = await site.ask.get(`/product/${id}`);
      expect(response.statusCode).toBe(404);
      expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(response.headers['cache-control']).toBe('no-store');
      expect(response.body).toContain('Product not found');
      expect(response.body).toContain('Return to home');
    },
  );

  test.each([
    '/nothing',
    '/deep/er/still',
    '/index.html',
    '/product',
    '/product/',
    '/product/?comments=a',
    '/api',
    '/assets/nothing.js',
    '/pictures/nothing.svg',
    '/pictures/../package.json',
    '/pictures/%2e%2e/products.json',
    '/%F0%9F%8C%8A',
    '/%zz',
    '/%E0%A4%A',
    '//',
    '//evil.example/',
    '//product/a',
    '/<script>alert(1)</script>',
  ])("%s returns 404 'Oops! Page not found' with a link to the home page, and its path is logged", async (url) => {
    await site.addProduct({ id: 'a' });
    const before = log.lines().length;
    const { statusCode, headers, body } = await site.ask.get(url);
    expect(statusCode).toBe(404);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    for (const text of ['404', 'Oops! Page not found', 'Return to Home', 'href="/"']) expect(body).toContain(text);
    expect(body).not.toContain('alert(1)');
    const line = { level: 30, msg: expect.stringMatching(/^404/), path: expect.any(String) };
    expect(log.lines().slice(before)).toContainEqual(expect.objectContaining(line));
  });

  test('a product path with dot segments returns 404, and a request for an absolute URL returns the page', async () => {
    await site.addProduct({ id: 'a' });
    // Uses a real connection, because `inject` would resolve the dot segments.
    const { port } = new URL(await site.app.listen({ host: '127.0.0.1', port: 0 }));
    const statusOf = async (path: string) => {
      const [response] = await once(get({ port, path, agent: false }), 'response');
      return response.resume().statusCode;
    };
    for (const path of ['/product/..', '/product/%2e%2e', '/product/.', '/product/..?lang=de'])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    expect(await statusOf(`http://127.0.0.1:${port}/product/a`)).toBe(200);
  });

  test('the missing path is logged without its query', async () => {
    await site.ask.get('/missing/path?secret=1');
    expect(log.lines()).toContainEqual(expect.objectContaining({ path: '/missing/path' }));
    expect(log.text()).not.toContain('secret=1');
  });

  test('a HEAD request for a missing page returns 404, and the page is compressed', async () => {
    for (const url of ['/nothing', '/product/nobody'])
      expect((await site.app.inject({ method: 'HEAD', url })).statusCode).toBe(404);
    const { headers } = await site.ask.get('/nothing', { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBe('br');
  });
});

describe('user-provided text', () => {
  const EVIL = '</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u2028"\'&lt;';

  test('cannot break out of its element as a name, description, maker, tag, team member or comment', async () => {
    await site.addProduct({
      id: 'a',
      name: EVIL,
      description: EVIL,
      maker: EVIL,
      category: EVIL,
      tags: [EVIL],
      launchDate: EVIL,
      image: `/x.png"${EVIL}`,
      screenshots: [`/y.png"${EVIL}`],
      team: [{ name: EVIL, role: EVIL, avatar: `"${EVIL}` }],
    });
    await site.ask.post('/api/comments', { productId: 'a', content: EVIL }, newVisitor());
    for (const [url, scripts] of [
      ['/', 3],
      ['/product/a', 3],
      [`/?q=${encodeURIComponent(EVIL)}`, 2],
      [`/?tag=${encodeURIComponent('</script>')}`, 2],
    ] as const) {
      const { body, statusCode } = await site.ask.get(url);
      expect(statusCode).toBe(200);
      expect(body, url).not.toMatch(/<script>alert|<img src=x|<!--<img/);
      // The page contains only the head script, the state and, if it is indexed, structured data, like a page without
      // user-provided text.
      expect(body.match(/<script\b/g), url).toHaveLength(scripts);
      expect(body.match(/<\/script>/g), url).toHaveLength(scripts);
      expect(() => JSON.parse(stateOf(body)), url).not.toThrow();
    }
  });

  test('is unchanged in the serialized state', async () => {
    await site.addProduct({ id: 'a', name: EVIL });
    const { body } = await site.ask.get('/product/a');
    const names: unknown[] = [];
    JSON.parse(stateOf(body), (key, value) => {
      if (key === 'name') names.push(value);
      return value;
    });
    expect(names).toContain(EVIL.trim());
  });
});

describe('the page is the same for every visitor', () => {
  test('the page contains no per-visitor state, even if the request has a session', async () => {
    await site.addProduct({ id: 'a' });
    const visitor = newVisitor();
    await site.ask.put('/api/products/a/upvote', visitor);
    const { body } = await site.ask.get('/product/a', visitor);
    expect(body).not.toContain('title="Remove upvote"');
    expect(body).not.toContain(visitor['x-user-session']);
  });

  test('the content security policy allows one inline script and no inline styles, and the page has no others', async () => {
    await site.addProduct();
    const { body, headers } = await site.ask.get('/');
    const [, allowed] = /script-src 'self' '(sha256-[^']+)';/.exec(String(headers['content-security-policy'])) ?? [];
    const scripts = [...body.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
    const inline = scripts.filter(([, attributes]) => !/type="application\/(?:ld\+)?json"/.test(attributes ?? ''));
    expect(inline.map(([, , text = '']) => inlineHash(text))).toEqual([allowed]);
    expect(headers['content-security-policy']).toContain("; style-src 'self';");
    expect(body).not.toMatch(/\son[a-z]+="|\sstyle="|<style|javascript:/);
  });
});

describe('an unavailable database', () => {
  test('the list returns 503 with the specified texts and a retry button, and the reason is logged, at most ten times a minute', async () => {
    const lines = createLogLines();
    const broken = await startTestSite({ log: lines.log, runtime: createTestClock() });
    await broken.database.simulateOutage();
    const response = await broken.ask.get('/');
    expect([response.statusCode, response.headers['cache-control']]).toEqual([503, 'no-store']);
    for (const text of ['Failed to load products', 'Try again']) expect(response.body).toContain(text);
    expect(response.body).not.toMatch(/does not exist|test_[0-9a-f]{8}/);
    for (let request = 0; request < 30; request += 1) await broken.ask.get('/');
    expect(lines.lines().filter(({ msg }) => String(msg).startsWith('Failed to fetch products: '))).toHaveLength(10);
    await broken.close();
  });
});
