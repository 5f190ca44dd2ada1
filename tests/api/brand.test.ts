import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Brand, readBrand } from '../../src/settings/brand.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const TAGLINE = 'New tools <for> teachers & pupils';
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" fill="#00f"/></svg>';
const ARTICLES = ['One', 'Two </script><script>alert(1)</script>', 'Three'].map((title) => ({
  title,
  excerpt: `Excerpt of ${title}`,
  author: 'Ada Lovelace',
  subtitle: 'Notes · 1 min read',
}));

let folder: string;
let brand: Brand;
let site: TestSite;
let plain: TestSite;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-'));
  await writeFile(join(folder, 'logo'), SVG);
  await writeFile(join(folder, 'articles.json'), JSON.stringify(ARTICLES));
  brand = await readFromFiles();
  plain = await startTestSite();
  site = await startTestSite({ brand, databaseOf: plain });
  await plain.addProduct({ id: 'harbour', name: 'Harbour' });
});

afterAll(async () => {
  await site.close();
  await plain.close();
  await rm(folder, { recursive: true });
});

const readFromFiles = () =>
  readBrand(
    readSettings({
      SITE_TAGLINE: TAGLINE,
      SITE_LOGO: join(folder, 'logo'),
      SITE_ACCENT: '#0000ff',
      SITE_ARTICLES: join(folder, 'articles.json'),
    }),
  );

const get = (from: TestSite, url: string, headers = {}) => from.app.inject({ url, headers });
/** Returns the red, green and blue values of one pixel. */
async function pixelOf(picture: Buffer, left: number, top: number): Promise<number[]> {
  const pixel = await sharp(picture).extract({ left, top, width: 1, height: 1 }).removeAlpha().raw().toBuffer();
  return [...pixel];
}

const LOGO = /\/brand\/[\w-]{22}\.svg/;

describe('the logo', () => {
  test('is served unchanged, as immutable, and with a policy that disables scripts', async () => {
    const { body, headers, statusCode } = await get(site, brand.page.logo ?? '');
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: SVG });
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      etag: `"${brand.page.logo?.replace('/brand/', '')}"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
    });
  });

  test('is not sent again to a client that has its ETag', async () => {
    const { etag } = (await get(site, brand.page.logo ?? '')).headers;
    const again = await get(site, brand.page.logo ?? '', { 'if-none-match': String(etag) });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
  });

  test('is not served at any other URL', async () => {
    for (const url of ['/brand/', '/brand/logo.svg', `${brand.page.logo}x`]) {
      expect((await get(site, url)).statusCode).toBe(404);
    }
    expect((await get(plain, brand.page.logo ?? '')).statusCode).toBe(404);
  });
});

describe('pages', () => {
  test.each(['/', '/?sort=top', '/product/harbour', '/nowhere'])('the page %s shows the brand', async (url) => {
    const { body, headers } = await get(site, url);
    expect(body).toContain(`<img class="site-logo" src="${brand.page.logo}" alt="" width="32" height="32"/>`);
    expect(body).toContain('<p class="tagline" dir="auto">New tools &lt;for&gt; teachers &amp; pupils</p>');
    expect(body).toContain(`<link rel="icon" href="${brand.page.logo}" type="image/svg+xml">`);
    expect(body).not.toMatch(/favicon|apple-touch|wave-mark|The place to discover/);
    // The content security policy allows exactly one inline style.
    const [style = '', ...others] = [...body.matchAll(/<style>(.*?)<\/style>/g)].map(([, css]) => css ?? '');
    expect(others).toEqual([]);
    expect(body).not.toMatch(/<[^>]+\sstyle=/);
    expect(style).toContain('--sun:light-dark(#0000ff,');
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`; style-src 'self' 'sha256-${hash}'; `);
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  test('the home page shows the articles as plain text and has the tagline as its description', async () => {
    const { body } = await get(site, '/');
    expect(body).toContain('<h3 dir="auto">Two &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</h3>');
    expect(body).not.toContain('<script>alert');
    expect(body).not.toContain('Marit Solheim');
    const escaped = 'New tools &lt;for&gt; teachers &amp; pupils';
    expect(body).toContain(`<meta name="description" content="${escaped}">`);
    expect(body).toContain(`<meta property="og:description" content="${escaped}">`);
    expect(body).toContain(`<meta property="og:image:alt" content="Groundswell: ${escaped}">`);
    const [, data = '{}'] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(body) ?? [];
    expect(JSON.parse(data)['@graph'][0]).toMatchObject({ '@type': 'WebSite', description: TAGLINE });
  });

  test.each(['de', 'ja', 'ar'])('the operator’s texts are not translated in %s', async (language) => {
    const { body } = await get(site, `/?lang=${language}`);
    expect(body).toContain(`<html lang="${language}`);
    expect(body).toContain('<p class="tagline" dir="auto">New tools &lt;for&gt; teachers &amp; pupils</p>');
    expect(body).toContain('<meta name="description" content="New tools &lt;for&gt; teachers &amp; pupils">');
    expect(body).toContain('<h3 dir="auto">One</h3>');
  });

  test('without a brand, a page has no brand elements', async () => {
    const { body, headers } = await get(plain, '/');
    expect(body).not.toMatch(/<style|site-logo|\/brand\/|dir="auto">The place|"tagline":|"articles":/);
    expect(headers['content-security-policy']).toContain("; style-src 'self'; ");
  });

  test('the offline page has the brand', async () => {
    const { body } = await get(site, '/offline-shell');
    expect(body).toContain(`"logo":"${brand.page.logo}"`);
    expect(body).toContain('<style>:root:root{--sun:light-dark(#0000ff,');
  });
});

describe('the service worker', () => {
  test('differs only between sites with different brands, so browsers replace the cached offline page', async () => {
    const again = await startTestSite({ brand, databaseOf: plain });
    try {
      const scripts = await Promise.all([site, again, plain].map((from) => get(from, '/service-worker.js')));
      const [first, second, other] = scripts.map(({ body }) => body);
      expect(second).toBe(first);
      expect(other).not.toBe(first);
      expect(scripts[0]?.headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, no-cache',
      });
    } finally {
      await again.close();
    }
  });
});

test('the offline page is sent only to the service worker of the same brand and build', async () => {
  const shellFor = async (from: TestSite) => {
    const [, digest = ''] = /'(sha256-[^']+)'/.exec((await get(from, '/service-worker.js')).body) ?? [];
    return get(site, `/offline-shell?digest=${encodeURIComponent(digest)}`);
  };
  expect((await shellFor(site)).body).toContain(`"logo":"${brand.page.logo}"`);
  expect((await shellFor(plain)).statusCode).toBe(404);
});

describe('the brand', () => {
  test('is in the web app manifest', async () => {
    expect((await get(site, '/manifest.webmanifest')).json()).toMatchObject({
      name: 'Groundswell',
      description: TAGLINE,
      theme_color: '#0000ff',
      icons: [{ src: brand.page.logo, sizes: 'any', type: 'image/svg+xml' }],
    });
  });

  test('is in the feeds', async () => {
    const atom = (await get(site, '/feed.xml')).body;
    expect(atom).toContain('<subtitle>New tools &lt;for&gt; teachers &amp; pupils</subtitle>');
    expect(atom).toContain(`<icon>http://groundswell.test${brand.page.logo}</icon>`);
    expect((await get(site, '/feed.json')).json()).toMatchObject({
      description: TAGLINE,
      icon: `http://groundswell.test${brand.page.logo}`,
    });
    expect((await get(plain, '/feed.xml')).body).not.toContain('<icon>');
  });

  test.each(['light', 'dark'] as const)(
    'is in the %s badge, with the logo embedded and the accent colour',
    async (theme) => {
      const { body, headers } = await get(site, `/badge/harbour.svg?theme=${theme}`);
      expect(body).toContain(`href="data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}"`);
      expect(body).toContain(`fill="${brand.accent?.[theme].sunSoft}"`);
      expect(body).not.toContain('#2b9c9c');
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*; img-src data:$/);
      expect(await pixelOf(Buffer.from(body), 27, 27)).toEqual([0, 0, 255]);
    },
  );

  test.each(['/og.png', '/og/harbour.png'])('changes the card %s', async (url) => {
    const own = await get(site, url);
    expect(own.statusCode).toBe(200);
    expect(own.rawPayload.equals((await get(plain, url)).rawPayload)).toBe(false);
    if (url === '/og.png') expect(await pixelOf(own.rawPayload, 136, 168)).toEqual([0, 0, 255]);
  });

  test('is in the API reference', async () => {
    const { body } = await get(site, '/api/docs');
    expect(body).toMatch(LOGO);
    expect(body).toContain('<style>:root:root{--sun');
  });
});

test('another process with the same files responds with the same bytes', async () => {
  const other = await startTestSite({ brand: await readFromFiles(), databaseOf: plain });
  try {
    for (const url of ['/nowhere', '/manifest.webmanifest', '/badge/harbour.svg', '/og.png', brand.page.logo ?? '']) {
      const [one, two] = [await get(site, url), await get(other, url)];
      const stateless = (text: string) => text.replaceAll(/"(?:renderedAt|dataUpdatedAt)":\d+/g, '');
      expect(stateless(two.body), url).toBe(stateless(one.body));
    }
  } finally {
    await other.close();
  }
});
