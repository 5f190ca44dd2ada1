import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/contract/limits.ts';
import { canonicalOf, headElements, itemOf, metaOf, structuredDataOf, titleOf } from '../support/page-head.ts';
import { startProductListSite } from '../support/product-list-site.ts';
import { newVisitor } from '../support/requests.ts';
import { errorsOf } from '../support/structured-data.ts';

const SITE = 'http://groundswell.test';
const on = startProductListSite();

const html = async (url: string, headers?: Record<string, string>) => (await on.site.ask.get(url, headers)).body;

/** Several writing systems, text that could end an attribute or an element, and characters of several code units. */
const TEXTS = {
  Arabic: 'مرحبا بالعالم',
  Chinese: '发现和发布创新的科技产品',
  Greek: 'Ἀνακαλύψτε προϊόντα',
  emoji: '👩‍👩‍👧‍👦 waves 🌊 🇳🇴',
  quotes: `"double" 'single' <b>&amp;</b> </title></script><script>alert(1)</script>`,
  separators: 'a\u2028b\u2029c',
};

describe('the canonical URL of a page', () => {
  test.each([
    ['/', '/'],
    ['/?utm_source=mail&fbclid=1', '/'],
    ['/?sort=top', '/'],
    ['/?tag=Boats', '/?tag=boats'],
    ['/?tag=boats&sort=discussed', '/?tag=boats'],
    ['/product/a', '/product/a'],
    ['/product/a?ref=feed', '/product/a'],
  ])('%s has the canonical URL %s', async (url, canonical) => {
    await on.site.addProduct({ id: 'a', tags: ['Boats'] });
    const page = await html(url);
    expect(canonicalOf(page)).toBe(SITE + canonical);
    expect(metaOf(page, 'og:url')).toBe(SITE + canonical);
    expect(metaOf(page, 'robots')).toBeUndefined();
  });

  test('is the URL of the first page for later pages of the list, which are connected by links', async () => {
    for (let number = 0; number < 31; number += 1) await on.site.addProduct({ id: `p-${number}`, name: `P ${number}` });
    const { nextCursor } = await on.site.ask.json<{ nextCursor: string }>(
      `/api/products?limit=${LIMITS.listedProducts}`,
    );
    const page = await html(`/?cursor=${nextCursor}`);
    expect(canonicalOf(page)).toBe(`${SITE}/`);
    expect(titleOf(page)).toContain('page 2');
    expect(page, 'a plain link to the previous page').toMatch(
      /<a[^>]* rel="prev"[^>]* href="\/"|<a[^>]* href="\/"[^>]* rel="prev"/,
    );
    expect(await html('/'), 'a plain link to the next page').toMatch(/<a[^>]* rel="next"/);
  });

  test.each([
    ['/?q=wave', 200],
    ['/?q=wave&tag=boats', 200],
    ['/?tag=nothing-has-it', 200],
    ['/product/unknown', 404],
    ['/unknown', 404],
  ])('%s is not indexed', async (url, status) => {
    await on.site.addProduct({ name: 'Wave', tags: ['boats'] });
    const response = await on.site.ask.get(url);
    expect(response.statusCode).toBe(status);
    expect(canonicalOf(response.body)).toBeUndefined();
    expect(metaOf(response.body, 'robots')).toBe('noindex');
    expect(structuredDataOf(response.body)).toEqual([]);
  });

  test('is based on SITE_URL, not on the Host header', async () => {
    await on.site.addProduct({ id: 'a' });
    for (const url of ['/', '/product/a']) {
      const forged = await html(url, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
      expect(forged).not.toContain('evil.example');
    }
  });
});

describe('link previews', () => {
  test('show the name, the beginning of the description and the card of a product', async () => {
    await on.site.addProduct({ id: 'a', name: 'Harbour', description: 'Keeps small boats safe.', maker: 'Quay & Co' });
    const page = await html('/product/a');
    expect(titleOf(page)).toBe('Harbour · Groundswell');
    const expected = {
      description: 'Keeps small boats safe.',
      'og:type': 'website',
      'og:site_name': 'Groundswell',
      'og:title': 'Harbour · Groundswell',
      'og:description': 'Keeps small boats safe.',
      'og:image': `${SITE}/og/a.png`,
      'og:image:type': 'image/png',
      'og:image:width': '1200',
      'og:image:height': '630',
      'og:image:alt': 'Harbour, by Quay & Co',
      'twitter:card': 'summary_large_image',
    };
    for (const [name, content] of Object.entries(expected)) expect(metaOf(page, name), name).toBe(content);
  });

  test('show the site’s card for the list', async () => {
    expect(metaOf(await html('/'), 'og:image')).toBe(`${SITE}/og.png`);
  });

  test.each(Object.entries(TEXTS))('preserve %s exactly', async (_name, text) => {
    await on.site.addProduct({ id: 'a', name: text, description: text });
    const page = await html('/product/a');
    const line = text.replaceAll(/\s+/g, ' ');
    expect(titleOf(page)).toBe(`${line} · Groundswell`);
    expect(metaOf(page, 'description')).toBe(line);
    expect(metaOf(page, 'og:title')).toBe(`${line} · Groundswell`);
    expect(itemOf(page, 'SoftwareApplication')).toMatchObject({ name: text, description: line });
  });

  test.each(Object.entries(TEXTS))('truncate 5,000 characters of %s at a character boundary', async (_name, text) => {
    const long = `${text} `.repeat(5_000 / text.length).trim();
    await on.site.addProduct({ id: 'a', name: long.slice(0, 300).trim(), description: long });
    const page = await html('/product/a');
    const description = metaOf(page, 'description') ?? '';
    expect(description).toMatch(/…$/);
    expect(description.isWellFormed()).toBe(true);
    const line = long.replaceAll(/\s+/g, ' ');
    expect(line.startsWith(description.slice(0, -1)), description).toBe(true);
    const characters = [...new Intl.Segmenter('en').segment(description)].length;
    expect(characters).toBeLessThanOrEqual(160);
    expect(characters).toBeGreaterThan(90);
    expect([...new Intl.Segmenter('en').segment(titleOf(page))].length).toBeLessThanOrEqual(110);
  });
});

describe('alternative formats of a page', () => {
  const alternates = async (url: string) =>
    headElements(await html(url), 'link')
      .filter(({ rel, hreflang }) => rel === 'alternate' && hreflang === undefined)
      .map(({ type, href }) => [type, href]);

  test('the list links to its feeds', async () => {
    expect(await alternates('/')).toEqual([
      ['application/atom+xml', `${SITE}/feed.xml`],
      ['application/feed+json', `${SITE}/feed.json`],
      ['application/atom+xml', `${SITE}/feed/leaderboards.xml`],
    ]);
  });

  test('a product links to the feed of its comments and to its oEmbed response', async () => {
    await on.site.addProduct({ id: 'a' });
    expect(await alternates('/product/a')).toEqual([
      ['application/atom+xml', `${SITE}/product/a/comments.xml`],
      ['application/json+oembed', `${SITE}/oembed?url=${encodeURIComponent(`${SITE}/product/a`)}&format=json`],
    ]);
  });
});

describe('structured data', () => {
  test('describes the site and the products with their positions on the pages of the list', async () => {
    for (let number = 1; number <= 21; number += 1) await on.site.addProduct({ id: `p-${number}` });
    const page = await html('/');
    expect(structuredDataOf(page).flatMap((item) => errorsOf(item))).toEqual([]);
    const urls = (itemOf(page, 'ItemList').itemListElement as { url: string; position: number }[]).map(
      ({ url, position }) => `${position} ${url}`,
    );
    expect(urls).toHaveLength(LIMITS.listedProducts);
    expect(urls.slice(0, 2)).toEqual([`1 ${SITE}/product/p-21`, `2 ${SITE}/product/p-20`]);
    expect(itemOf(page, 'WebSite').name).toBe('Groundswell');
    const { nextCursor } = await on.site.ask.json<{ nextCursor: string }>(
      `/api/products?limit=${LIMITS.listedProducts}`,
    );
    const second = structuredDataOf(await html(`/?cursor=${nextCursor}`));
    expect(second).toMatchObject([{ '@type': 'ItemList', itemListElement: [{ position: LIMITS.listedProducts + 1 }] }]);
  });

  test('has the counts, team, comments and breadcrumbs of a product', async () => {
    await on.site.addProduct({
      id: 'a',
      name: 'Harbour',
      category: 'Shelter',
      maker: 'Quay',
      image: 'https://elsewhere.example/a.png',
      screenshots: ['/pictures/git/tile.svg', 'javascript:alert(1)', 'data:image/png;base64,AA'],
      tags: ['boats'],
      team: [{ name: 'Ada', role: 'Maker', avatar: '' }],
    });
    await on.site.ask.put('/api/products/a/upvote', newVisitor());
    for (const content of ['First', 'Second </script>']) {
      await on.site.ask.post('/api/comments', { productId: 'a', content }, newVisitor());
    }
    const page = await html('/product/a');
    expect(structuredDataOf(page).flatMap((item) => errorsOf(item))).toEqual([]);
    expect(itemOf(page, 'SoftwareApplication')).toMatchObject({
      name: 'Harbour',
      url: `${SITE}/product/a`,
      image: [`${SITE}/og/a.png`, 'https://elsewhere.example/a.png'],
      screenshot: [`${SITE}/pictures/git/tile.svg`],
      contributor: [{ '@type': 'Person', name: 'Ada', jobTitle: 'Maker' }],
      interactionStatistic: [{ userInteractionCount: 1 }, { userInteractionCount: 2 }],
      commentCount: 2,
      comment: expect.arrayContaining([expect.objectContaining({ text: 'Second </script>' })]),
    });
    expect(itemOf(page, 'BreadcrumbList').itemListElement).toMatchObject([
      { position: 1, item: `${SITE}/` },
      { position: 2, name: 'Harbour', item: `${SITE}/product/a` },
    ]);
  });

  test('is valid for a product with only defaults', async () => {
    await on.site.addProduct({ id: 'a', image: '', tags: [], team: [], screenshots: [] });
    expect(structuredDataOf(await html('/product/a')).flatMap((item) => errorsOf(item))).toEqual([]);
  });

  test('the check detects errors in structured data', () => {
    expect(errorsOf({ '@type': 'Person', nmae: 'Ada' })).toEqual([
      'Person.name is missing',
      'Person.nmae is not a known property',
    ]);
    expect(errorsOf({ '@type': 'Organization', name: '' })).toEqual(['Organization.name must be a non-empty text']);
    expect(errorsOf({ '@type': 'Thing' })).toHaveLength(1);
  });
});
