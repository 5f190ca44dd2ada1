import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCacheHarness } from '../../../tests/support/response-cache-harness.ts';
import { createReadLimiter } from '../../core/semaphore.ts';
import { handleError } from '../http/error-handler.ts';
import { sitemapRoutes } from './sitemap.ts';

const app = Fastify();
let address: string;

beforeAll(async () => {
  app.setErrorHandler(handleError);
  await app.register(sitemapRoutes, {
    core: {
      readProductAddresses: largeShard,
      readBoardAddresses: async () => [],
      splitProductRanges: async () => [],
    },
    cache: createCacheHarness().cache,
    site: { name: 'Test', url: () => 'http://site.test' },
    isLimited: false,
    shards: createReadLimiter({ max: 2, what: 'sitemaps', timeoutMs: 1 }),
  });
  address = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

/** A shard of 40 MB, which no socket buffers as a whole. */
async function* largeShard() {
  yield Array.from({ length: 10_000 }, () => ({ id: 'x'.repeat(4_000), createdAt: '2026-06-01T00:00:00.000Z' }));
}

/** Requests a shard, reads the beginning and then pauses. */
async function readSlowly(): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write('GET /sitemap/~.xml HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  return socket;
}

const statusOf = async () => {
  const response = await fetch(`${address}/sitemap/~.xml`);
  await response.text();
  return response.status;
};

test('clients that read slowly occupy at most the permitted number of shards until they disconnect', async () => {
  const slow = [await readSlowly(), await readSlowly()];
  expect(await statusOf()).toBe(503);
  slow[0]?.destroy();
  await expect.poll(statusOf).toBe(200);
  await expect.poll(statusOf).toBe(200);
  slow[1]?.destroy();
});
