import { expect, test, visit } from '../support/e2e-test.ts';
import { stateContent } from '../support/screen-state.ts';

test('title, canonical URL and robots tag follow navigation within the site and Back', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Quahog', tags: ['Molluscs'] });
  const head = () =>
    page.evaluate(() => ({
      title: document.title,
      canonical: document.querySelector<HTMLLinkElement>('link[rel="canonical"]')?.href,
      robots: document.querySelector<HTMLMetaElement>('meta[name="robots"]')?.content,
      others: document.querySelectorAll('meta[property^="og:"], script[type="application/ld+json"]').length > 0,
    }));
  await visit(page, '/?tag=Molluscs');
  expect(await head()).toEqual({
    title: 'Molluscs products · Groundswell',
    canonical: `${site.address}/?tag=molluscs`,
    robots: undefined,
    others: true,
  });
  await page.getByRole('link', { name: 'Quahog', exact: true }).click();
  await expect(page).toHaveTitle('Quahog · Groundswell');
  // Navigation removes the meta tags of the previous page.
  await expect.poll(head).toEqual({
    title: 'Quahog · Groundswell',
    canonical: `${site.address}/product/${product.id}`,
    robots: undefined,
    others: false,
  });
  await page.goBack();
  await expect.poll(async () => (await head()).canonical).toBe(`${site.address}/?tag=molluscs`);
  await page.getByRole('searchbox', { name: 'Search products' }).fill('quahog');
  await expect(page).toHaveURL(/\?q=quahog/);
  await expect.poll(head).toMatchObject({ canonical: undefined, robots: 'noindex' });
});

test('the links, pictures, files and anchors of 12 pages resolve without a redirect', async ({ site }) => {
  const { rich } = await stateContent(site);
  const request = (path: string) => fetch(site.address + path, { redirect: 'manual' });
  const seen = new Map<string, string>();
  const broken: string[] = [];
  const anchors = new Map<string, { ids: Set<string>; wanted: Set<string> }>();
  const waiting = ['/', `/product/${rich.id}`, '/?q=zz', '/product/git'];
  const own = (address: string, from: string) => {
    const url = new URL(address, `${site.address}${from}`);
    return url.origin === site.address ? url : undefined;
  };
  // Requests every URL, but follows the links of only 12 pages, because pages of the same kind have the same links.
  const pagesRead = () => [...anchors.keys()].length;
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue;
    const response = await request(path);
    const html = await response.text();
    seen.set(path, response.headers.get('content-type') ?? '');
    if (response.status !== 200) broken.push(`${response.status} ${path}`);
    if (!seen.get(path)?.startsWith('text/html') || pagesRead() >= 12) continue;
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => String(id)));
    anchors.set(path, { ids, wanted: new Set() });
    for (const [, raw = ''] of html.matchAll(/ (?:href|src|action)="([^"]*)"/g)) {
      const url = own(raw.replaceAll('&amp;', '&'), path);
      if (!url) continue;
      const target = `${url.pathname}${url.search}`;
      if (!seen.has(target)) waiting.push(target);
      const place = anchors.get(target);
      if (url.hash && (place === undefined || !place.ids.has(url.hash.slice(1)))) {
        const wanted = anchors.get(path)?.wanted;
        wanted?.add(`${target}${url.hash}`);
      }
    }
  }
  expect(broken).toEqual([]);
  expect(pagesRead()).toBe(12);
  expect(seen.size).toBeGreaterThan(100);
  for (const { wanted } of anchors.values()) {
    for (const address of wanted) {
      const [path = '', id] = address.split('#');
      const html = await (await request(path)).text();
      expect(html, address).toContain(` id="${id}"`);
    }
  }
});
