import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const OWN_ID = /^[0-9a-f]{8}-[0-9a-z]+$/;
const GIVEN = '4bf92f3577b34da6a3ce929d0e0e4736';

async function idOf(site: TestSite, given: string | undefined, url = '/api/nothing'): Promise<string> {
  const headers = given === undefined ? {} : { 'x-request-id': given };
  return String((await site.app.inject({ url, headers, remoteAddress: '192.0.2.1' })).headers['x-request-id']);
}

describe('the id of a request, in its problem', () => {
  let site: TestSite;
  let behindProxy: TestSite;
  beforeAll(async () => {
    site = await startTestSite();
    behindProxy = await startTestSite({ beside: site, trustProxy: readTrustedProxies('192.0.2.1') });
  });
  afterAll(async () => {
    await behindProxy.close();
    await site.close();
  });

  test('is of the process and another each time', async () => {
    const ids = [await idOf(site, undefined), await idOf(site, undefined), await idOf(behindProxy, undefined)];
    for (const id of ids) expect(id).toMatch(OWN_ID);
    expect(new Set(ids).size).toBe(3);
  });

  test("is a trusted proxy's, where that is one", async () => {
    expect(await idOf(behindProxy, GIVEN)).toBe(GIVEN);
    for (const wrong of ['short', 'x'.repeat(65), 'with a space in it', 'Zeile\u00e4ende']) {
      expect(await idOf(behindProxy, wrong)).toMatch(OWN_ID);
    }
  });

  test("is nobody else's", async () => {
    expect(await idOf(site, GIVEN)).toMatch(OWN_ID);
    const headers = { 'x-request-id': GIVEN };
    const elsewhere = await behindProxy.app.inject({ url: '/api/nothing', headers, remoteAddress: '198.51.100.1' });
    expect(elsewhere.headers['x-request-id']).toMatch(OWN_ID);
  });

  test('is there for an address that is no valid URL, and for none that was answered well', async () => {
    expect(await idOf(site, undefined, '/api/%zz')).toMatch(OWN_ID);
    expect((await site.ask.get('/api/products')).headers['x-request-id']).toBeUndefined();
  });
});
