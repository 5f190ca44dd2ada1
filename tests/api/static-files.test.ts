import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
beforeAll(async () => {
  site = await startTestSite();
});
afterAll(() => site.close());

test.each(['/assets/', '/assets/none.js', '/pictures/', '/pictures/none.webp', '/images/none.webp'])(
  '%s responds with the 404 page and the content security policy of pages',
  async (url) => {
    const { statusCode, headers, payload } = await site.ask.get(url);
    expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(payload).toContain('<!doctype html>');
    expect(headers['content-security-policy']).toMatch(/^default-src 'self'/);
  },
);
