import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { stablePort } from '../../../tests/support/stable-port.ts';
import { PACKAGE_ROOT } from '../../settings/package-root.ts';
import { readSettings } from '../../settings/settings.ts';
import { checkBrand, checkProxyTrust, checkSite, checkSiteUrl } from './doctor.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Starts a server that responds to every request with `status`. @returns its port. */
async function serveStatus(status: number, host = '127.0.0.1'): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end('x')).listen(0, host);
  await once(server, 'listening');
  open.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('the brand check lists the configured settings with their files and both accents, and a missing file is a failure', async () => {
  expect(await checkBrand(readSettings({}))).toBeUndefined();
  const logo = join(PACKAGE_ROOT, 'public/favicon.svg');
  const shown = readSettings({ SITE_TAGLINE: 'New every day', SITE_LOGO: logo, SITE_ACCENT: '#0b6e4f' });
  const finding = await checkBrand(shown);
  expect(finding?.status).toBe('ok');
  const [before, after] = finding?.message.split(logo) ?? [];
  expect(before).toBe('set by SITE_TAGLINE, SITE_LOGO (');
  expect(after).toMatch(/^\), SITE_ACCENT \(#0b6e4f, in the dark theme #[0-9a-f]{6}\)$/);
  expect(await checkBrand(readSettings({ SITE_LOGO: '/nowhere/logo.svg' }))).toMatchObject({
    status: 'failed',
    message: 'SITE_LOGO: /nowhere/logo.svg cannot be used: there is no such file',
  });
});

describe('SITE_URL', () => {
  test('a warning is reported if SITE_URL is unset, or is a URL of another machine without TLS', async () => {
    expect(await checkSiteUrl(readSettings({}))).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('not set'),
    });
    expect(await checkSiteUrl(readSettings({ SITE_URL: 'http://launches.example' }))).toMatchObject({
      status: 'warning',
      message: 'http://launches.example does not use HTTPS',
    });
  });

  test('SITE_URL is requested, and a warning is reported if it does not reach the site', async () => {
    const check = async (port: number) => checkSiteUrl(readSettings({ SITE_URL: `http://localhost:${port}` }));
    expect(await check(await serveStatus(200, 'localhost'))).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/is reachable$/),
    });
    expect(await check(await serveStatus(502, 'localhost'))).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('(502)'),
    });
    expect(await check(await stablePort())).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('(ECONNREFUSED)'),
    });
  });
});

describe('the site', () => {
  const check = (port: number, host: string) => checkSite(readSettings({ PORT: String(port), HOST: host }));

  test('a stopped site is not a failure, and a running site is found if HOST is 127.0.0.1 or all addresses', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
      const port = await serveStatus(200);
      expect(await check(port, host)).toMatchObject({ status: 'ok', message: `running at http://127.0.0.1:${port}` });
    }
    const port = await stablePort();
    expect(await check(port, '127.0.0.1')).toMatchObject({
      status: 'ok',
      message: `not running at http://127.0.0.1:${port}`,
    });
    expect((await check(port, '::1')).message).toBe(`not running at http://[::1]:${port}`);
  });

  test('a site that runs without its database is a failure', async () => {
    expect(await check(await serveStatus(503), '127.0.0.1')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('cannot use its database'),
    });
  });

  test('a site that accepts connections but does not respond is a failure', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push(() => server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    expect(await checkSite(readSettings({ PORT: String(port) }), 100)).toMatchObject({
      status: 'failed',
      message: `running at http://127.0.0.1:${port}, but it does not respond`,
    });
  });
});

describe('TRUST_PROXY', () => {
  const check = (settings: Record<string, string>) => checkProxyTrust(readSettings(settings));

  test('TRUST_PROXY must be set behind a proxy, even without rate limits, because the cap on votes remains', () => {
    const siteUrl = { SITE_URL: 'https://launches.example' };
    expect(check(siteUrl)).toMatchObject({ status: 'failed', advice: expect.stringContaining('loopback') });
    expect(check({ ...siteUrl, RATE_LIMITS: 'off', VOTES_PER_NETWORK: '7' })).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('only 7 of their votes for a launch count'),
    });
    expect(check({ ...siteUrl, TRUST_PROXY: 'loopback' })).toMatchObject({ status: 'ok', message: 'set' });
    expect(check({})).toMatchObject({ status: 'ok', message: expect.stringContaining('not set') });
  });

  test('a warning is reported if proxies on this machine are trusted but visitors can bypass them', () => {
    const trusting = (host: string) => check({ TRUST_PROXY: 'loopback', HOST: host });
    for (const host of ['0.0.0.0', '127.0.0.1.example'])
      expect(trusting(host)).toMatchObject({ status: 'warning', message: expect.stringContaining(`HOST=${host} `) });
    for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '::1'])
      expect(trusting(host)).toMatchObject({ status: 'ok' });
    expect(check({ TRUST_PROXY: '10.0.0.1', HOST: '0.0.0.0' })).toMatchObject({ status: 'ok' });
  });
});
