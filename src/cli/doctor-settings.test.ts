import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { readSettings } from '../settings/settings.ts';
import { checkProxyTrust, checkSite, checkSiteUrl } from './doctor-settings.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A server that answers every request with one status. @returns its port. */
async function answering(status: number, host = '127.0.0.1'): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end('x')).listen(0, host);
  await once(server, 'listening');
  open.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function unusedPort(): Promise<number> {
  const port = await answering(200);
  open.pop()?.();
  return port;
}

describe('SITE_URL', () => {
  test('not set, or without TLS anywhere but on this machine, is a warning', async () => {
    expect(await checkSiteUrl(readSettings({}))).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('it is not set'),
    });
    expect(await checkSiteUrl(readSettings({ SITE_URL: 'http://launches.example' }))).toMatchObject({
      status: 'warning',
      message: 'http://launches.example is not encrypted',
    });
  });

  test('is asked whether it leads back to the site', async () => {
    const check = async (port: number) => checkSiteUrl(readSettings({ SITE_URL: `http://localhost:${port}` }));
    expect(await check(await answering(200, 'localhost'))).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/answers$/),
    });
    expect(await check(await answering(502, 'localhost'))).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('(502)'),
    });
    expect(await check(await unusedPort())).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('(ECONNREFUSED)'),
    });
  });
});

describe('the site', () => {
  const check = (port: number, host: string) => checkSite(readSettings({ PORT: String(port), HOST: host }));

  test('runs, also where it listens on all addresses; that it does not run is no fault', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
      const port = await answering(200);
      expect(await check(port, host)).toMatchObject({ status: 'ok', message: `it runs at http://127.0.0.1:${port}` });
    }
    const port = await unusedPort();
    expect(await check(port, '127.0.0.1')).toMatchObject({
      status: 'ok',
      message: `it does not run at http://127.0.0.1:${port}`,
    });
    expect((await check(port, '::1')).message).toBe(`it does not run at http://[::1]:${port}`);
  });

  test('that runs without its database is a fault', async () => {
    expect(await check(await answering(503), '127.0.0.1')).toMatchObject({
      status: 'fault',
      message: expect.stringContaining('its database does not answer'),
    });
  });
});

describe('TRUST_PROXY', () => {
  const check = (settings: Record<string, string>) => checkProxyTrust(readSettings(settings));

  test('has to be set behind a proxy, unless nothing is limited', () => {
    const siteUrl = { SITE_URL: 'https://launches.example' };
    expect(check(siteUrl)).toMatchObject({ status: 'fault', advice: expect.stringContaining('loopback') });
    expect(check({ ...siteUrl, RATE_LIMITS: 'off' })).toMatchObject({ status: 'ok' });
    expect(check({ ...siteUrl, TRUST_PROXY: 'loopback' })).toMatchObject({ status: 'ok', message: 'set' });
    expect(check({})).toMatchObject({ status: 'ok', message: expect.stringContaining('nobody is trusted') });
  });

  test('of this machine is a warning where others can pass it by', () => {
    const trusting = (host: string) => check({ TRUST_PROXY: 'loopback', HOST: host });
    expect(trusting('0.0.0.0')).toMatchObject({ status: 'warning', message: expect.stringContaining('HOST=0.0.0.0') });
    for (const host of ['127.0.0.1', 'localhost', '::1']) expect(trusting(host)).toMatchObject({ status: 'ok' });
    expect(check({ TRUST_PROXY: '10.0.0.1', HOST: '0.0.0.0' })).toMatchObject({ status: 'ok' });
  });
});
