import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Site, serve } from '../../src/server/serve.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { closeEvents, openEvents } from '../support/event-client.ts';
import { silentLog } from '../support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let site: Site | undefined;

afterEach(async () => {
  closeEvents();
  await site?.close();
  site = undefined;
  await database.drop();
});

const TOKEN = 'a-token-of-this-test';

/** The site with its own start; its pages matter to nobody here. */
async function start(environment: Record<string, string> = {}): Promise<string> {
  database = await createTestDatabase();
  const settings = readSettings({ PORT: '0', DATABASE_URL: database.url, METRICS_TOKEN: TOKEN, ...environment });
  site = await serve(settings, silentLog, {
    createRenderer: async () => ({
      siteName: 'Groundswell',
      siteUrl: () => 'http://groundswell.test',
      shell: () => '',
      render: async () => ({ status: 404, html: 'Oops! Page not found', problems: [] }),
    }),
  });
  return site.address;
}

async function metric(name: string): Promise<number> {
  const response = await fetch(`${site?.address}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await response.text())?.[1]);
}

async function refusal(url: string): Promise<{ status: number; headers: Headers; code: string }> {
  const response = await fetch(url);
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, headers: response.headers, code };
}

describe('how many streams there may be', () => {
  test('one network has a number of its own, until it closes one of them', async () => {
    const address = await start({ LIMIT_STREAMS_PER_NETWORK: '2' });
    const url = `${address}/api/events`;
    const first = await openEvents(url);
    expect(first.response.headers.ratelimit).toBe('"network";r=1');
    expect(first.response.headers['ratelimit-policy']).toBe('"network";q=2;qu="concurrent-requests"');
    await openEvents(url);
    const refused = await refusal(url);
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '30']);
    expect((await fetch(`${address}/api/products`)).status).toBe(200);
    first.close();
    await expect.poll(async () => (await openEvents(url)).response.statusCode).toBe(200);
  });

  test('a process has a number of its own, whatever the limits are; other requests are answered', async () => {
    const address = await start({ MAX_STREAMS: '1', RATE_LIMITS: 'off' });
    const url = `${address}/api/events`;
    const first = await openEvents(url);
    expect(first.response.headers.ratelimit).toBeUndefined();
    const refused = await refusal(url);
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '2']);
    expect((await fetch(`${address}/api/products`)).status).toBe(200);
    expect(await metric('groundswell_streams_open')).toBe(1);
    first.close();
    await expect.poll(() => metric('groundswell_streams_open')).toBe(0);
  });

  test('with the limits off, a network has as many as there are', async () => {
    const address = await start({ RATE_LIMITS: 'off', LIMIT_STREAMS_PER_NETWORK: '1' });
    for (const _ of [1, 2, 3]) expect((await openEvents(`${address}/api/events`)).response.statusCode).toBe(200);
  });

  test('a second stream on the same connection is not answered before the first ends, and takes no place', async () => {
    const address = await start();
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    const request = 'GET /api/events HTTP/1.1\r\nHost: site\r\n\r\n';
    socket.write(request.repeat(3));
    await once(socket, 'data');
    expect(await metric('groundswell_streams_open')).toBe(1);
    socket.destroy();
    await expect.poll(() => metric('groundswell_streams_open')).toBe(0);
  });
});

test('a site that stops ends its streams in order, and says when to come back', async () => {
  const address = await start();
  const clients = await Promise.all([1, 2, 3].map(() => openEvents(`${address}/api/events`)));
  const startedAt = performance.now();
  await site?.close();
  site = undefined;
  // Nobody is waited for: a connection that is kept would hold the end up for a minute.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  for (const client of clients) {
    await client.closed;
    // The end of the answer, not of a connection that broke.
    expect(client.response.complete).toBe(true);
    expect(client.text()).toMatch(/\nretry: \d+\n\n$/);
  }
});
