import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../support/build-product.ts';
import { canonicalOf } from '../support/page-head.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const GERMAN = 'Die Top-Launches von heute';
const ENGLISH = 'Top Products Launching Today';

const alternates = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">/g)].map(([, tag, href]) => [tag, href]),
  );

describe('a site in English', () => {
  let site: TestSite;
  beforeAll(async () => {
    const launched = [buildProduct({ id: 'git', name: 'Git' })];
    site = await startTestSite({ cacheEnabled: true, hasModerationLog: true, launched });
  });
  afterAll(() => site.close());

  test('responds in English regardless of the browser’s preference', async () => {
    const { statusCode, headers, body } = await site.ask.get('/', { 'accept-language': 'de,ja;q=0.9' });
    expect(statusCode).toBe(200);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(body).toContain(ENGLISH);
    expect(body).toMatch(/<html lang="en">/);
    expect(body).not.toContain('lang=de&');
  });

  test.each(['/', '/product/git', '/?tag=a&sort=top', '/?log', '/nowhere'])(
    '%s is in German with lang=de, and its links preserve the language',
    async (path) => {
      const { body } = await site.ask.get(`${path}${path.includes('?') ? '&' : '?'}lang=de`);
      expect(body).toMatch(/<html lang="de">/);
      expect(body).toContain('Namen und Marken der Produkte gehören ihren Inhabern.');
      const links = [...body.matchAll(/<a (?![^>]*hreflang)[^>]*href="(\/(?:\?|product\/|")[^"]*)"/g)].map(
        (match) => match[1],
      );
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) expect(link).toMatch(/[?&;]lang=de(?:#.*)?$/);
    },
  );

  test('Arabic is laid out from right to left', async () => {
    const { body } = await site.ask.get('/?lang=ar');
    expect(body).toMatch(/<html lang="ar" dir="rtl">/);
  });

  test.each([
    ['/?lang=xyz', '/'],
    ['/?lang=DE', '/'],
    ['/?q=a&lang=de%0d', '/?q=a'],
    ['/product/git?lang=__proto__', '/product/git'],
  ])('%s is redirected to %s', async (url, location) => {
    const { statusCode, headers } = await site.ask.get(url);
    expect({ statusCode, location: headers.location }).toEqual({ statusCode: 302, location });
  });

  test('the site’s own language has no second canonical URL', async () => {
    const { statusCode, body } = await site.ask.get('/?lang=en');
    expect(statusCode).toBe(200);
    expect(canonicalOf(body)).toBe('http://groundswell.test/');
  });

  test('a redirect to a leaderboard preserves the language', async () => {
    const { headers } = await site.ask.get('/?board=day&lang=de');
    expect(headers.location).toMatch(/^\/\?board=[\d-]+&lang=de$/);
  });

  test('a page lists its translations for search engines, and itself as canonical', async () => {
    const english = (await site.ask.get('/product/git')).body;
    const german = (await site.ask.get('/product/git?lang=de')).body;
    expect(canonicalOf(english)).toBe('http://groundswell.test/product/git');
    expect(canonicalOf(german)).toBe('http://groundswell.test/product/git?lang=de');
    expect(alternates(german)).toEqual(alternates(english));
    expect(alternates(english)).toMatchObject({
      en: 'http://groundswell.test/product/git',
      de: 'http://groundswell.test/product/git?lang=de',
      'x-default': 'http://groundswell.test/product/git',
    });
    expect(alternates((await site.ask.get('/?q=git&lang=de')).body)).toEqual({});
  });

  test('only the pages of a language load its messages', async () => {
    expect((await site.ask.get('/')).body).not.toMatch(/\/assets\/(?:ar|de|ja)\.js/);
    const { body } = await site.ask.get('/?lang=de');
    expect(body).toMatch(/data-modules="[^"]*\/assets\/de\.js"/);
    expect(body).not.toContain('/assets/ja.js');
  });

  test('each language is cached separately', async () => {
    const before = await Promise.all(['/', '/?lang=de'].map((url) => site.ask.get(url)));
    expect(before.map(({ body }) => body.includes(GERMAN))).toEqual([false, true]);
    const again = await Promise.all(['/', '/?lang=de'].map((url) => site.ask.get(url)));
    expect(again.map(({ headers }) => headers.etag)).toEqual(before.map(({ headers }) => headers.etag));
  });
});

describe('a site in the browser’s language', () => {
  let site: TestSite;
  beforeAll(async () => {
    site = await startTestSite({ cacheEnabled: true, locale: { code: 'en', isNegotiated: true } });
    await site.addProduct({ id: 'git', name: 'Git' });
  });
  afterAll(() => site.close());

  const ask = (url: string, acceptLanguage?: string) =>
    site.ask.get(url, acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage });

  test.each([
    ['de', '/?lang=de'],
    ['de-CH, fr;q=0.8', '/?lang=de'],
    ['tlh, de;q=0.5, en;q=0.4', '/?lang=de'],
    ['en;q=0.5, de;q=0.6', '/?lang=de'],
  ])('a request with Accept-Language: %s is redirected to %s', async (wanted, location) => {
    // Requests the page twice, because a cached page is served on another code path.
    for (let round = 0; round < 2; round += 1) {
      const { statusCode, headers } = await ask('/', wanted);
      expect({ statusCode, location: headers.location }).toEqual({ statusCode: 302, location });
      expect(headers).toMatchObject({ vary: 'Accept-Language', 'cache-control': 'no-store' });
      await ask('/');
    }
  });

  test.each([
    ['/?submit', '/?submit&lang=de'],
    ['/?tag=vcs&submit', '/?tag=vcs&submit&lang=de'],
    ['/?lang=xx&submit', '/?submit'],
  ])('a redirect from %s to %s keeps the submission dialog', async (url, location) => {
    expect((await ask(url, 'de')).headers.location).toBe(location);
  });

  test('in a long Accept-Language header, the language range at the cut-off point is ignored', async () => {
    const others = Array.from({ length: 19 }, (_, index) => `x${String(index).padStart(2, '0')};q=0.2`).join(',');
    expect((await ask('/', `de;q=.9,${others},fr;q=0.1`)).headers.location).toBe('/?lang=de');
  });

  test.each([
    undefined,
    '',
    '*',
    'en-GB',
    'tlh',
    'de;q=0',
    'de;q=nonsense',
    ';;;,,,',
    `${'x'.repeat(10_000)},de`,
    '__proto__',
  ])('a request with Accept-Language: %s gets the page at the same URL, with Vary: Accept-Language', async (wanted) => {
    const { statusCode, headers, body } = await ask('/product/git', wanted);
    expect(statusCode).toBe(200);
    expect(headers.vary).toBe('Accept-Encoding, Accept-Language');
    expect(body).toMatch(/<html lang="en">/);
  });

  test('a URL with an explicit language ignores the Accept-Language header', async () => {
    for (const [lang, text] of [
      ['de', GERMAN],
      ['en', ENGLISH],
    ] as const) {
      const { headers, body } = await ask(`/?lang=${lang}`, 'ja');
      expect(headers.vary).toBe('Accept-Encoding');
      expect(body).toContain(text);
      expect(canonicalOf(body)).toBe(`http://groundswell.test/?lang=${lang}`);
      expect(alternates(body)).toMatchObject({
        en: 'http://groundswell.test/?lang=en',
        'x-default': 'http://groundswell.test/',
      });
    }
  });

  test('the 404 page is also in the browser’s language', async () => {
    const { statusCode, body } = await ask('/nowhere', 'de');
    expect(statusCode).toBe(404);
    expect(body).toMatch(/<html lang="de">/);
  });
});

test('a site in German has a separate URL for English', async () => {
  const site = await startTestSite({ locale: { code: 'de', isNegotiated: false } });
  try {
    expect((await site.ask.get('/')).body).toContain(GERMAN);
    const { body } = await site.ask.get('/?lang=en');
    expect(body).toContain(ENGLISH);
    expect(canonicalOf(body)).toBe('http://groundswell.test/?lang=en');
  } finally {
    await site.close();
  }
});
