import { parseAtomFeed, parseJsonFeed } from 'feedsmith';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import * as paths from '../../src/contract/paths.ts';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { FEED_ENTRIES } from '../../src/server/feeds/feeds.ts';
import { HOSTILE } from '../hostile/corpus.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';
import { xmlErrors } from '../support/xml-errors.ts';

const ORIGIN = 'http://groundswell.test';
const FEEDS = ['/feed.xml', '/feed.json', '/product/git/comments.xml'];

/** Returns a text as this test's parser reads it: trimmed, with U+FFFD for each character that XML 1.0 forbids. */
const asXmlHolds = (text: string) =>
  text.trim().replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');

interface JsonFeed {
  items: { title: string; summary: string; tags: string[] }[];
}

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

afterAll(() => site.close());

describe('feeds of a site', () => {
  beforeAll(async () => {
    await site.addProduct({ id: 'older', createdAt: '2026-01-02T03:04:05.678Z' });
    await site.addProduct({
      id: 'git',
      name: 'Git',
      description: 'Keeps versions.\n\nFast,\nand everywhere.',
      maker: 'Linus',
      tags: ['Versions', 'C & shell'],
      image: '/pictures/git/tile.svg',
      createdAt: '2026-02-03T04:05:06.789Z',
    });
  });

  test('Atom lists the newest launch first, with id, dates and description', async () => {
    const response = await site.ask.get('/feed.xml', { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    expect(response.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(response.body).not.toContain('evil.example');
    expect(await xmlErrors(response.body)).toEqual([]);
    const feed = parseAtomFeed(response.body);
    expect(feed).toMatchObject({ id: `${ORIGIN}/feed.xml`, updated: '2026-02-03T04:05:06.789Z' });
    expect(feed.links).toMatchObject([
      { rel: 'self', type: 'application/atom+xml', href: `${ORIGIN}/feed.xml` },
      { rel: 'alternate', type: 'text/html', href: `${ORIGIN}/` },
    ]);
    expect(feed.entries?.map(({ id }) => id)).toEqual([`${ORIGIN}/product/git`, `${ORIGIN}/product/older`]);
    expect(feed.entries?.[0]).toMatchObject({
      title: { value: 'Git' },
      published: '2026-02-03T04:05:06.789Z',
      updated: '2026-02-03T04:05:06.789Z',
      links: [{ rel: 'alternate', href: `${ORIGIN}/product/git` }],
      authors: [{ name: 'Linus' }],
      categories: [{ term: 'Versions' }, { term: 'C & shell' }],
      content: {
        type: 'html',
        value: `<p><img src="${ORIGIN}/pictures/git/tile.svg" alt=""></p><p>Keeps versions.</p><p>Fast,<br>and everywhere.</p>`,
      },
    });
  });

  test('JSON Feed lists the same launches with the same ids', async () => {
    const response = await site.ask.get('/feed.json', { host: 'evil.example' });
    expect(response.headers['content-type']).toBe('application/feed+json; charset=utf-8');
    expect(response.body).not.toContain('evil.example');
    const feed = parseJsonFeed(response.body);
    expect(response.json().version).toBe('https://jsonfeed.org/version/1.1');
    expect(feed).toMatchObject({ feed_url: `${ORIGIN}/feed.json`, home_page_url: `${ORIGIN}/` });
    expect(feed.items?.map(({ id }) => id)).toEqual([`${ORIGIN}/product/git`, `${ORIGIN}/product/older`]);
    expect(feed.items?.[0]).toMatchObject({
      url: `${ORIGIN}/product/git`,
      title: 'Git',
      summary: 'Keeps versions.\n\nFast,\nand everywhere.',
      image: `${ORIGIN}/pictures/git/tile.svg`,
      date_published: '2026-02-03T04:05:06.789Z',
      authors: [{ name: 'Linus' }],
      tags: ['Versions', 'C & shell'],
    });
  });

  test.each(FEEDS)('%s returns 304 for its current ETag or date, and 200 for others', async (path) => {
    const { headers } = await site.ask.get(path);
    expect(Date.parse(String(headers['last-modified']))).toBeLessThanOrEqual(Date.now());
    expect(headers['cache-control']).toBe('public, no-cache');
    for (const condition of [
      { 'if-none-match': String(headers.etag) },
      { 'if-modified-since': String(headers['last-modified']) },
    ]) {
      const known = await site.ask.get(path, condition);
      expect([known.statusCode, known.body, known.headers['last-modified']]).toEqual([
        304,
        '',
        headers['last-modified'],
      ]);
    }
    for (const condition of [
      { 'if-none-match': '"another"', 'if-modified-since': String(headers['last-modified']) },
      { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
      { 'if-modified-since': 'yesterday' },
    ]) {
      expect((await site.ask.get(path, condition)).statusCode).toBe(200);
    }
  });

  test.each(FEEDS)('%s supports HEAD and varies by Accept-Encoding', async (path) => {
    const [get, head] = [await site.ask.get(path), await site.app.inject({ method: 'HEAD', url: path })];
    expect([head.statusCode, head.headers.etag, head.body]).toEqual([200, get.headers.etag, '']);
    expect(get.headers.vary).toBe('Accept-Encoding');
  });

  test('an upvote does not change a feed, and a new launch changes its ETag and date', async () => {
    const before = await site.ask.get('/feed.xml');
    await site.ask.put('/api/products/git/upvote', newVisitor());
    const same = await validatorsOf('/feed.xml');
    expect(same).toEqual([before.headers.etag, before.headers['last-modified']]);

    await site.addProduct({ id: 'newest', createdAt: '2026-07-08T09:10:11.000Z' });
    await expect.poll(() => validatorsOf('/feed.xml')).not.toEqual(same);
    const [, date] = await validatorsOf('/feed.xml');
    expect(Date.parse(String(date))).toBeGreaterThan(Date.parse(String(before.headers['last-modified'])));
  });

  async function validatorsOf(path: string) {
    const { headers } = await site.ask.get(path);
    return [headers.etag, headers['last-modified']];
  }
});

test('an upvote does not cause the feeds of launches and leaderboards to be read from the database again', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const clock = createTestClock(new Date('2026-06-10T12:00:00.000Z'));
  const rules = { now: clock.now(), timeZone: 'UTC', reviewHours: 24 };
  await saveProducts(database, [buildProduct({ id: 'older', createdAt: '2026-06-03T12:00:00.000Z' })]);
  await placeLaunches(database, rules);
  await finalizeDue(database, { rules, votesPerNetwork: 20 });
  const ranked = await startTestSite({ runtime: clock, databaseOf: { database }, cacheEnabled: true });
  onTestFinished(() => ranked.close());
  const reads = [vi.spyOn(ranked.core, 'listProducts'), vi.spyOn(ranked.core, 'getLeaderboard')];
  const readFeeds = () => Promise.all(['/feed.xml', paths.leaderboardFeed].map((path) => ranked.ask.get(path)));
  for (const { body } of await readFeeds()) expect(body).toContain('/product/older');
  expect(reads.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);

  await ranked.ask.put('/api/products/older/upvote', newVisitor());
  clock.advance({ milliseconds: 2_000 });
  await readFeeds();
  expect(reads.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

describe('the feed of a product’s comments', () => {
  const idsOf = async () => {
    const { body } = await site.ask.get('/product/talk/comments.xml');
    return parseAtomFeed(body).entries?.map(({ id }) => id) ?? [];
  };

  async function say(content: string, extra: object = {}): Promise<string> {
    const response = await site.ask.post('/api/comments', { productId: 'talk', content, ...extra }, newVisitor());
    expect(response.statusCode).toBe(201);
    return `urn:uuid:${response.json().comment.id}`;
  }

  beforeAll(() => site.addProduct({ id: 'talk', name: 'Talk' }));

  test('lists comments newest first, without held ones', async () => {
    expect(await idsOf()).toEqual([]);
    const first = await say('First!');
    const held = await say('Buy now', { website: 'https://spam.example' });
    const second = await say('Second <b>& last</b>');
    await expect.poll(idsOf).toEqual([second, first]);
    expect(await idsOf()).not.toContain(held);

    const { body, headers } = await site.ask.get('/product/talk/comments.xml');
    expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(body).not.toContain('Buy now');
    expect(parseAtomFeed(body)).toMatchObject({
      title: { value: 'Comments on Talk' },
      id: `${ORIGIN}/product/talk/comments.xml`,
      entries: [
        {
          title: { value: 'You on Talk' },
          links: [{ href: `${ORIGIN}/product/talk#comments` }],
          authors: [{ name: 'You' }],
          content: { value: 'Second <b>& last</b>' },
        },
        { content: { value: 'First!' } },
      ],
    });
  });

  test('is valid without comments', async () => {
    await site.addProduct({ id: 'silent' });
    const { body } = await site.ask.get('/product/silent/comments.xml');
    expect(parseAtomFeed(body)).toMatchObject({ updated: '1970-01-01T00:00:00.000Z' });
  });

  test.each(['nothing', 'No-Such', encodeURIComponent('../x')])(
    'returns 404 for %s, which is not a product',
    async (id) => {
      expectProblem(await site.ask.get(`/product/${id}/comments.xml`), 404, 'product_not_found');
    },
  );
});

describe('hostile text', () => {
  const texts = [
    ...HOSTILE.map(({ text }) => text),
    'Plain \u0001\u0008\u000b\u001f\ufffe\uffff control',
    ']]> <![CDATA[ &amp; &#0; "quotes" \'and\' so on',
    'עברית 中文 日本語 العربية हिन्दी ไทย 👩‍👩‍👧‍👦 🇪🇺',
    'a\r\nb\tc\rd',
    '界'.repeat(5_000),
    // Excludes invisible text, which this test's parser drops, and text that cannot be stored.
  ].filter((text) => /[^\s\p{C}]/u.test(text) && !text.includes('\u0000') && text.isWellFormed());

  let plain: TestSite;

  beforeAll(async () => {
    plain = await startTestSite();
  });

  afterAll(() => plain.close());

  test('is returned by both feeds of launches, unchanged except for characters that XML does not allow', async () => {
    // Tests as many texts at a time as a feed has entries.
    for (let start = 0; start < texts.length; start += FEED_ENTRIES) {
      const newest = texts.slice(start, start + FEED_ENTRIES).reverse();
      const products = newest.map((text, index) => ({
        ...buildProduct({ name: text, description: text, maker: text, tags: [text] }),
        createdAt: new Date(Date.UTC(2026, 6, 1) + (start - index) * 1_000).toISOString(),
      }));
      await saveProducts(plain.database, products);
      const names = products.map(({ name }) => name);
      const descriptions = products.map(({ description }) => description);

      const json = await plain.ask.json<JsonFeed>('/feed.json');
      expect(parseJsonFeed(json).items).toHaveLength(json.items.length);
      const items = json.items.slice(0, newest.length);
      expect(items.map(({ title }) => title)).toEqual(names);
      expect(items.map(({ summary }) => summary)).toEqual(descriptions);
      expect(items.map(({ tags }) => tags)).toEqual(products.map(({ tags }) => tags));

      const atom = (await plain.ask.get('/feed.xml')).body;
      expect(await xmlErrors(atom)).toEqual([]);
      const entries = parseAtomFeed(atom).entries?.slice(0, newest.length) ?? [];
      expect(entries.map((entry) => entry.title?.value?.trim() ?? '')).toEqual(names.map(asXmlHolds));
      expect(entries.map((entry) => entry.summary?.value?.trim() ?? '')).toEqual(descriptions.map(asXmlHolds));
    }
  });
});
