import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { badgePath } from '../../src/contract/paths/badge.ts';
import * as paths from '../../src/contract/paths.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

afterAll(() => site.close());

const get = (url: string, headers?: Record<string, string>) => site.ask.get(url, headers);

describe('the badge of a product', () => {
  test('is an SVG that other sites may embed and cache for a minute', async () => {
    const { id } = await site.addProduct({ name: 'R&D <3' });
    const response = await get(badgePath(id));
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(response.body).toContain('<title id="title">R&amp;D &lt;3 on Groundswell</title>');
    expect(response.headers).toMatchObject({
      'cache-control': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      etag: expect.any(String),
    });
  });

  test('shows an upvote as soon as it is acknowledged', async () => {
    const { id } = await site.addProduct();
    const before = await get(badgePath(id));
    await site.ask.put(paths.api.upvote(id), newVisitor());
    const after = await get(badgePath(id), { 'if-none-match': String(before.headers.etag) });
    expect(after.statusCode).toBe(200);
    expect(after.body).toContain(': 1 upvote on Groundswell</title>');
    const again = await get(badgePath(id), { 'if-none-match': String(after.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('is dark with theme=dark, and light with any other value', async () => {
    const { id } = await site.addProduct();
    const light = await get(badgePath(id));
    const dark = await get(badgePath(id, 'dark'));
    expect(dark.body).not.toBe(light.body);
    for (const query of ['?theme=light', '?theme=purple', '?theme=dark&theme=light', '?colour=dark']) {
      expect((await get(`${badgePath(id)}${query}`)).headers.etag, query).toBe(light.headers.etag);
    }
    expect((await get(`${badgePath(id)}?v=2&theme=dark`)).headers.etag).toBe(dark.headers.etag);
  });

  test('responds to HEAD without a body', async () => {
    const { id } = await site.addProduct();
    const head = await site.app.inject({ method: 'HEAD', url: badgePath(id) });
    expect([head.statusCode, head.body]).toEqual([200, '']);
  });

  test('returns 404 for an unknown product and for an invalid URL', async () => {
    for (const url of ['/badge/no-such-product.svg', '/badge/UPPER.svg', '/badge/.svg', '/badge/a.png']) {
      expect((await get(url)).statusCode, url).toBe(404);
    }
  });
});
