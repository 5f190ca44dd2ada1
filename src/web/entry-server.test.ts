import { describe, expect, test } from 'vitest';
import { exampleComment, exampleProduct } from '../../tests/support/product-data.ts';
import type { ReadApi } from '../contract/api.ts';
import type { Product } from '../contract/products/schema.ts';
import { CATALOGUES, render } from './entry-server.tsx';

const PAGE = { items: [exampleProduct()], nextCursor: null };

function fakeApi(given: Partial<ReadApi> = {}): ReadApi {
  return {
    listProducts: async () => PAGE,
    getProduct: async (id) => (id === 'harbour' ? { product: exampleProduct(), previousId: null, nextId: 'b' } : null),
    getRelatedProducts: async (id) => (id === 'harbour' ? { items: [] } : null),
    listComments: async () => ({ items: [exampleComment()], total: 1, nextCursor: null }),
    getLeaderboard: async () => null,
    getStandings: async () => null,
    ...given,
  };
}

const SITE = { name: 'Groundswell', url: 'https://groundswell.example', today: '' };

const open = (url: string, given?: Partial<ReadApi>) => render({ url, api: fakeApi(given), site: SITE });
/** Removes the empty comments that React puts between text nodes. */
const withoutMarkers = (html: string) => html.replace(/<!--.*?-->/g, '');
/** Returns the text of a page, with `|` instead of each tag. */
const textOf = (html: string) =>
  withoutMarkers(html)
    .replace(/<[^>]+>/g, '|')
    .replaceAll('&#x27;', "'");
const broken = () => Promise.reject(new Error('the database is away'));

describe('the home page', () => {
  test('has the specification’s texts', async () => {
    const page = await open('/');
    expect(page).toMatchObject({ status: 200, title: 'Top Products Launching Today · Groundswell' });
    const text = textOf(page.html);
    for (const words of [
      'The place to discover and launch innovative tech products. Explore the wave.',
      'Welcome',
      'Top Products Launching Today',
      'Product Landscapes',
      'View Comments',
      'Harbour',
    ]) {
      expect(text).toContain(words);
    }
    expect(page.html).toContain('placeholder="Search products..."');
    expect(page.html).toContain('title="Upvote this product"');
    expect(page.html.match(/<h1/g)).toHaveLength(1);
    expect(page.preloadImage).toBe('/pictures/harbour/tile.svg');
  });

  test('shows only the first three tags of a product', async () => {
    const text = textOf((await open('/')).html);
    expect(text).toMatch(/boats.*storms.*ropes/s);
    expect(text).not.toContain('lamps');
  });

  test.each([
    'Sign in',
    'Subscribe',
    'Launches',
    'Products',
    'Community',
    'Notifications',
    'Visit Website',
    'View more articles',
  ])('has the disabled button %s, labelled (Demo)', async (label) => {
    const html = withoutMarkers((await open('/')).html);
    expect(html).toMatch(
      new RegExp(`<button[^>]*disabled=""[^>]*>(?:<svg.*?</svg>)?<span>${label} <span[^>]*>\\(Demo\\)`),
    );
  });

  test('reports an empty result only at the end of the list, and links to further results', async () => {
    const unfinished = await open('/?q=zz', { listProducts: async () => ({ items: [], nextCursor: 'there' }) });
    expect(unfinished.html).toContain('Still searching');
    expect(unfinished.html).not.toContain('Nothing on the horizon');
    expect(unfinished.html).toContain('cursor=there');
    const finished = await open('/?q=zz', { listProducts: async () => ({ items: [], nextCursor: null }) });
    expect(finished.html).toContain('Nothing on the horizon');
  });

  test.each(['q', 'tag'])('reports the number of results on an empty last page of a search by %s', async (name) => {
    const listProducts = async () => ({ items: [], nextCursor: null });
    const page = await open(`/?${name}=a&cursor=abc.40`, { listProducts });
    expect(page.status).toBe(200);
    expect(textOf(page.html)).toContain('|40 products|');
    expect(page.html).not.toContain('Nothing on the horizon');
  });

  test('reads the part of the list that the URL selects, and links to the next page', async () => {
    const asked: object[] = [];
    const page = await open('/?q=a&tag=b&sort=top&cursor=abc.40', {
      listProducts: async (query) => {
        asked.push(query);
        return { items: [exampleProduct()], nextCursor: 'def.60' };
      },
    });
    expect(asked).toEqual([{ q: 'a', tag: 'b', sort: 'top', limit: 20, cursor: 'abc.40' }]);
    expect(textOf(page.html)).toMatch(/Rank \|41\|/);
    expect(page.html).toContain('href="/?q=a&amp;tag=b&amp;sort=top&amp;cursor=def.60"');
  });

  test.each(['/', '/?cursor=abc.40'])(
    'loads the picture of the first card at %s first, and the others lazily',
    async (url) => {
      const items = [exampleProduct(), exampleProduct({ id: 'second' })];
      const { html } = await open(url, { listProducts: async () => ({ items, nextCursor: null }) });
      const pictures = html.match(/<img[^>]*product-card-picture[^>]*>/g) ?? [];
      expect(pictures.map((picture) => /loading="(\w+)" fetchPriority="(\w+)"/i.exec(picture)?.slice(1))).toEqual([
        ['eager', 'high'],
        ['lazy', 'auto'],
      ]);
    },
  );

  test('shows the search term with an empty result', async () => {
    const page = await open('/?q=zzz', { listProducts: async () => ({ items: [], nextCursor: null }) });
    expect(textOf(page.html)).toContain('“zzz”');
  });

  test('reports a failed read with status 503, and leaves the reason to the log', async () => {
    const page = await open('/', { listProducts: broken });
    expect(page.status).toBe(503);
    expect(textOf(page.html)).toContain('Failed to load products');
    expect(textOf(page.html)).toContain('Try again');
    expect(page.problems?.map(({ message }) => message)).toEqual(['Failed to fetch products: the database is away']);
    expect(page.html + page.state).not.toContain('the database is away');
  });
});

describe('a product’s page', () => {
  test('shows the number of comments in the heading without a thousands separator', async () => {
    const page = await open('/product/harbour', {
      getProduct: async () => ({ product: { ...exampleProduct(), comments: 1_234 }, previousId: null, nextId: null }),
      listComments: async () => ({ items: [exampleComment()], total: 1_234, nextCursor: 'there' }),
    });
    expect(textOf(page.html)).toContain('Discussion (1234)');
  });

  test('has the specification’s texts', async () => {
    const page = await open('/product/harbour');
    expect(page).toMatchObject({ status: 200, title: 'Harbour · Groundswell', description: 'Keeps small boats safe.' });
    const text = textOf(page.html);
    for (const words of [
      'Back to products',
      'Previous',
      'Next',
      'Screenshots',
      'Discussion (1)',
      'Best',
      'Newest',
      'Oldest',
      'Be constructive and specific in your feedback',
      'Post Comment',
      'Reply',
      'Calm water.',
      'Meet the team',
      'Ada Quay',
      'Harbour master',
      'Product Stats',
      'Launched',
      'May 2024',
      'Category',
      'Maker',
    ]) {
      expect(text).toContain(words);
    }
    expect(page.html).toContain('placeholder="What do you think about this product?"');
    expect(page.html).toMatch(/<button[^>]*disabled=""[^>]*>(?:<svg.*?<\/svg>)?Previous/);
    expect(page.html).not.toMatch(/<button[^>]*disabled=""[^>]*>Next/);
  });

  test('preloads its picture, if it has one', async () => {
    expect((await open('/product/harbour')).preloadImage).toBe('/pictures/harbour/tile.svg');
    const bare = { product: exampleProduct({ image: '' }), previousId: null, nextId: null };
    expect(await open('/product/harbour', { getProduct: async () => bare })).not.toHaveProperty('preloadImage');
  });

  test('shows its number of comments in the heading of the discussion and in the link to it', async () => {
    const text = textOf((await open('/product/harbour')).html);
    expect(text).toContain('Discussion (1)');
    expect(text).toMatch(/\|1\|+ comment\|/);
  });

  test('says that there are no comments if its discussion is empty', async () => {
    const { html } = await open('/product/harbour', {
      listComments: async () => ({ items: [], total: 0, nextCursor: null }),
    });
    expect(textOf(html)).toContain('No comments yet. Be the first to share your thoughts!');
  });

  test('is rendered even if its comments could not be read', async () => {
    const page = await open('/product/harbour', { listComments: broken });
    expect(page.status).toBe(200);
    expect(textOf(page.html)).toContain('Try again');
    expect(page.problems).toHaveLength(1);
  });

  test('starts its comments at the cursor in the URL', async () => {
    const asked: object[] = [];
    await open('/product/harbour?comments=abc', {
      listComments: async (_id, query) => {
        asked.push(query);
        return { items: [], total: 0, nextCursor: null };
      },
    });
    expect(asked).toEqual([{ sort: 'best', cursor: 'abc', limit: 100 }]);
  });

  test('has status 404 if the product does not exist', async () => {
    const page = await open('/product/nope', { listComments: broken });
    expect(page.status).toBe(404);
    expect(page.problems).toEqual([]);
    expect(textOf(page.html)).toContain('Product not found');
    expect(textOf(page.html)).toContain('Return to home');
  });

  test('has status 503 if the product cannot be read', async () => {
    expect((await open('/product/harbour', { getProduct: broken })).status).toBe(503);
  });
});

test('in German, default values of fields are translated, but not other values that equal an interface text', async () => {
  const languages = { all: [], of: () => ({ tag: 'de', locale: 'de', messages: CATALOGUES.de?.messages }) };
  const textsWith = async (fields: Partial<Product>, authorName: string) => {
    const product = exampleProduct(fields);
    const api = fakeApi({
      listProducts: async () => ({ items: [product], nextCursor: null }),
      getProduct: async () => ({ product, previousId: null, nextId: null }),
      listComments: async () => ({ items: [exampleComment({ authorName })], total: 1, nextCursor: null }),
    });
    const pages = ['/', '/product/harbour'].map((url) => render({ url, api, site: SITE, languages }));
    return (await Promise.all(pages)).map(({ description, html }) => `|${description}${textOf(html)}`).join();
  };
  const defaults = { description: 'No description available', category: 'Uncategorized', maker: 'Unknown Maker' };
  const translated = await textsWith({ ...defaults, launchDate: 'Today' }, 'You');
  for (const text of ['Keine Beschreibung vorhanden', 'Ohne Kategorie', 'Unbekannt', 'Heute', 'Du'])
    expect(translated).toContain(`|${text}|`);
  const light = { description: 'Light', category: 'Light', maker: 'Light', launchDate: 'Light' };
  const written = await textsWith(light, 'Dark');
  expect(written.match(/\|(?:Light|Dark)(?=\|)/g)).toHaveLength(9);
  expect(written).not.toMatch(/\|(?:Hell|Dunkel)\|/);
});

test('any other path has status 404 and the specification’s texts', async () => {
  const page = await open('/no/such/page');
  expect(page.status).toBe(404);
  for (const words of ['404', 'Oops! Page not found', 'Return to Home']) expect(textOf(page.html)).toContain(words);
});

describe('a rendered page', () => {
  test('has a state that cannot end its script element', async () => {
    const name = '</script><script>alert(1)</script>\u2028';
    const page = await open('/', {
      listProducts: async () => ({ items: [exampleProduct({ name })], nextCursor: null }),
    });
    expect(page.state).not.toMatch(/[<\u2028\u2029]/);
    expect(JSON.stringify(JSON.parse(page.state))).toContain('alert(1)');
    expect(page.html).not.toContain('<script>alert(1)');
  });

  test('has no style attributes, which the content security policy would block', async () => {
    for (const url of ['/', '/product/harbour', '/nope']) expect((await open(url)).html).not.toMatch(/ style=/);
  });
});

describe('submissions', () => {
  const SUBMISSIONS = { hasSubmissions: true } as const;
  const pageOf = (url: string, settings?: typeof SUBMISSIONS) =>
    render({ url, api: fakeApi(), site: { ...SITE, ...settings } });
  const LINK = /<a[^>]* href="\/\?submit"[^>]*>Submit a product<\/a>/;

  test.each(['/', '/product/harbour', '/product/gone', '/nope'])(
    'add only one link to %s when enabled',
    async (url) => {
      const on = withoutMarkers((await pageOf(url, SUBMISSIONS)).html);
      expect(on).toMatch(LINK);
      expect(on.replace(LINK, '')).toBe(withoutMarkers((await pageOf(url)).html));
    },
  );

  test('are not mentioned when disabled, and /?submit shows the list', async () => {
    const { html, state } = await pageOf('/?submit');
    expect(html + state).not.toMatch(/submission|Submit a/i);
    expect(html).toBe((await pageOf('/')).html);
  });
});
