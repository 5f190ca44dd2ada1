import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type RunningSite, serve } from '../../src/server/serve.ts';
import { readSettings } from '../../src/settings/settings.ts';
import { closeEvents, openEvents } from '../support/event-client.ts';
import { createLogLines } from '../support/log-lines.ts';
import { silentLog } from '../support/silent-log.ts';
import { createRenderer } from '../support/stub-renderer.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
let site: RunningSite | undefined;

afterEach(async () => {
  closeEvents();
  await site?.close();
  site = undefined;
  await database.drop();
});

const TOKEN = 'a-token-of-this-test';

/** Starts a site with these settings and a stub renderer, because these tests need no real pages. */
async function start(environment: Record<string, string> = {}, log = silentLog): Promise<string> {
  database = await createTestDatabase();
  const settings = readSettings({ PORT: '0', DATABASE_URL: database.url, METRICS_TOKEN: TOKEN, ...environment });
  site = await serve(settings, log, { createRenderer });
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

describe('stream limits', () => {
  test('each network has a limit, and can open another stream after it closes one', async () => {
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

  test('a network with a limit of more than 1,000 streams may open that many connections, and further ones for requests', async () => {
    const { hostname, port } = new URL(await start({ LIMIT_STREAMS_PER_NETWORK: '1001' }));
    const sockets = Array.from({ length: 1_001 }, () => connect(Number(port), hostname));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect((await fetch(`${site?.address}/api/products`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test('a process has a limit, independent of the rate limits, and still responds to other requests', async () => {
    const { log, lines } = createLogLines();
    const address = await start({ MAX_STREAMS: '1', RATE_LIMITS: 'off' }, log);
    const url = `${address}/api/events`;
    const first = await openEvents(url);
    expect(first.response.headers.ratelimit).toBeUndefined();
    const refused = await refusal(url);
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '2']);
    expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await fetch(`${address}/api/products`)).status).toBe(200);
    expect(await metric('groundswell_streams_open')).toBe(1);
    first.close();
    await expect.poll(() => metric('groundswell_streams_open')).toBe(0);
  });

  test('without rate limits, a network has no limit', async () => {
    const address = await start({ RATE_LIMITS: 'off', LIMIT_STREAMS_PER_NETWORK: '1' });
    for (const _ of [1, 2, 3]) expect((await openEvents(`${address}/api/events`)).response.statusCode).toBe(200);
  });

  test('a pipelined request for a stream is refused, and the connection still serves the other requests', async () => {
    const address = await start();
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: site\r\n\r\n`;
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.write(head('/api/products') + head('/api/events').repeat(2) + head('/healthz'));
    await expect.poll(() => received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(4);
    expect(received.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3))).toEqual(['200', '400', '400', '200']);
    expect(received).toContain('cannot be pipelined');
    expect(await metric('groundswell_streams_open')).toBe(0);
    socket.destroy();
  });
});

test('when the site stops, it ends its streams cleanly and tells clients when to reconnect', async () => {
  const address = await start();
  const clients = await Promise.all([1, 2, 3].map(() => openEvents(`${address}/api/events`)));
  const startedAt = performance.now();
  await site?.close();
  site = undefined;
  // The site does not wait for idle connections, which would delay the stop by a minute.
  expect(performance.now() - startedAt).toBeLessThan(50_000);
  for (const client of clients) {
    await client.closed;
    // The response was completed, not aborted.
    expect(client.response.complete).toBe(true);
    expect(client.text()).toMatch(/\nretry: \d+\n\n$/);
  }
});
