import { type ConfigData, HtmlValidate, StaticConfigLoader } from 'html-validate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** The rules of the HTML standard and of accessibility, with the exceptions below. */
const RULES: ConfigData = {
  root: true,
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: {
    // React chooses the notation of these attributes.
    'attribute-boolean-style': 'off',
    'attribute-empty-style': 'off',
    // A list may have a name, which screen readers announce.
    'aria-label-misuse': ['error', { allowAnyNamable: true }],
    // The names of products may be long.
    'long-title': 'off',
  },
};

const validator = new HtmlValidate(new StaticConfigLoader(RULES));
let site: TestSite;
let cursor: string;

async function errorsIn(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, column }) => {
      const at = html.split('\n')[line - 1]?.slice(Math.max(0, column - 60), column + 60);
      return `${ruleId}: ${message} at …${at}…`;
    }),
  );
}

beforeAll(async () => {
  site = await startTestSite();
  for (let number = 1; number <= 31; number += 1)
    await site.addProduct({ id: `p-${number}`, tags: ['boats', 'tools'] });
  await site.addProduct({ id: 'bare', image: '', tags: [], team: [], screenshots: [] });
  await site.addProduct({
    id: 'rich',
    name: 'Rich & “quoted” <b>',
    description: 'One line.\nAnother 👩‍👩‍👧‍👦 line.',
    image: '/pictures/git/tile.svg',
    tags: ['boats', 'open source'],
    team: [{ name: 'Ada', avatar: '', role: 'Maker' }],
    screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
  });
  for (let number = 0; number < 31; number += 1) {
    const content = `Comment ${number}. https://example.org/?a=1&b=2`;
    await site.ask.post('/api/comments', { productId: 'rich', content }, newVisitor());
  }
  cursor = (await site.ask.json<{ nextCursor: string }>('/api/products?limit=30')).nextCursor;
});

afterAll(() => site.close());

describe('the HTML of pages', () => {
  test.each([
    ['the list', '/', 200],
    ['the list by upvotes', '/?sort=top', 200],
    ['the list of a tag', '/?tag=boats', 200],
    ['a search', '/?q=rich', 200],
    ['a search without results', '/?q=nothing-has-it', 200],
    ['a product with all fields', '/product/rich', 200],
    ['a product with only the required fields', '/product/bare', 200],
    ['an unknown product', '/product/unknown', 404],
    ['the 404 page', '/unknown', 404],
    ['the offline page', '/offline-shell', 200],
  ])('the HTML of %s is valid', async (_name, url, status) => {
    const { statusCode, body } = await site.ask.get(url);
    expect(statusCode).toBe(status);
    expect(await errorsIn(body)).toEqual([]);
  });

  test('the HTML of a later page of the list is valid', async () => {
    expect(await errorsIn((await site.ask.get(`/?cursor=${cursor}`)).body)).toEqual([]);
  });

  test('the HTML of the error page is valid', async () => {
    const broken = await startTestSite();
    await broken.database.simulateOutage();
    const { statusCode, body } = await broken.ask.get('/');
    expect(statusCode).toBe(503);
    expect(await errorsIn(body)).toEqual([]);
    await broken.close();
  });

  test('the check detects invalid HTML', async () => {
    const errors = await errorsIn('<!doctype html><html lang="en"><head></head><body><p><div></div></body></html>');
    expect(errors.map((error) => error.split(':')[0])).toEqual(expect.arrayContaining(['element-required-content']));
  });
});

describe('files that make the site installable', () => {
  test('the manifest has the correct media type, the site’s name, and existing icons', async () => {
    const response = await site.ask.get('/manifest.webmanifest');
    expect(response.headers['content-type']).toBe('application/manifest+json; charset=utf-8');
    const manifest = response.json<{ name: string; start_url: string; icons: Record<string, string>[] }>();
    expect(manifest).toMatchObject({ name: 'Groundswell', start_url: '/', display: 'standalone' });
    expect(manifest.icons.map(({ sizes, purpose = 'any' }) => `${sizes} ${purpose}`)).toEqual([
      '192x192 any',
      '512x512 any',
      '512x512 maskable',
      'any any',
    ]);
    for (const { src = '', sizes = '', type } of manifest.icons) {
      const icon = await site.ask.get(src);
      expect([icon.statusCode, icon.headers['content-type']], src).toEqual([200, type]);
      expect(icon.headers['cache-control']).toBe('public, max-age=86400');
      if (type === 'image/png') expect(pngSize(icon.rawPayload), src).toBe(sizes);
    }
  });

  test('browsers and phones that ignore the manifest also find icons', async () => {
    const favicon = await site.ask.get('/favicon.ico');
    expect([favicon.statusCode, favicon.headers['content-type']]).toEqual([200, 'image/vnd.microsoft.icon']);
    expect(favicon.rawPayload.subarray(0, 4)).toEqual(Buffer.from([0, 0, 1, 0]));
    expect(pngSize((await site.ask.get('/apple-touch-icon.png')).rawPayload)).toBe('180x180');
  });

  test('the offline page contains no rendered content, and is not indexed', async () => {
    const { body } = await site.ask.get('/offline-shell');
    expect(body).toContain('<div id="root"></div>');
    expect(body).toContain('<meta name="robots" content="noindex">');
  });
});

/** Returns the size of a PNG, such as `192x192`. */
function pngSize(png: Buffer): string {
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}
