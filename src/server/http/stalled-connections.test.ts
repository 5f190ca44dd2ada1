import { once } from 'node:events';
import { request as startRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { drainOnClose, endStalledConnections } from './connections.ts';

/** More than the buffers of both sides hold, so an unread response stalls. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);
const MINUTE_MS = 60_000;
const CHECK_MS = 15_000;

let finishSlow: (() => void) | undefined;

const app = () => {
  const server = Fastify();
  server.post('/slow', () => new Promise((resolve) => (finishSlow = () => resolve('slow'))));
  server.get('/large', (_request, reply) => reply.send(LARGE));
  server.get('/small', (_request, reply) => reply.send('small'));
  return server;
};

describe('stalled connections', () => {
  let server: ReturnType<typeof app>;
  /** The server's end of the connection. */
  let connection: Socket;
  let client: Socket;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    server = app();
    endStalledConnections(server);
    await server.listen({ host: '127.0.0.1', port: 0 });
    client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    [connection] = await once(server.server, 'connection');
  });

  afterEach(async () => {
    client.destroy();
    await server.close();
    vi.useRealTimers();
  });

  function ask(path: string): void {
    client.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
  }

  test('a connection whose response is not read is closed after two minutes', async () => {
    ask('/large');
    await once(client, 'readable');
    // The next check sees how much has been sent. The buffers of the system are full by now.
    vi.advanceTimersByTime(CHECK_MS);
    vi.advanceTimersByTime(2 * MINUTE_MS - 1);
    expect(connection.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(connection.destroyed).toBe(true);
  });

  test('a connection stays open while the site works on a response, and is closed two minutes after the response', async () => {
    client.write('POST /slow HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody');
    await expect.poll(() => finishSlow).toBeDefined();
    vi.advanceTimersByTime(10 * MINUTE_MS);
    expect(connection.destroyed).toBe(false);
    finishSlow?.();
    await once(client, 'data');
    vi.advanceTimersByTime(CHECK_MS);
    vi.advanceTimersByTime(2 * MINUTE_MS);
    expect(connection.destroyed).toBe(true);
  });

  test('a connection on which the rest of a body does not arrive is closed after two minutes', async () => {
    client.write('POST /slow HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbo');
    await once(server.server, 'request');
    vi.advanceTimersByTime(CHECK_MS);
    vi.advanceTimersByTime(2 * MINUTE_MS);
    expect(connection.destroyed).toBe(true);
  });

  test('a connection that continues to send requests stays open', async () => {
    for (let asked = 0; asked < 5; asked += 1) {
      ask('/small');
      await once(client, 'data');
      vi.advanceTimersByTime(MINUTE_MS);
    }
    expect(connection.destroyed).toBe(false);
    ask('/small');
    await once(client, 'data');
  });
});

test('a server that was suspended while closing responds to a request that arrived in the meantime', async () => {
  const closing = Fastify();
  closing.post('/', async () => 'done');
  drainOnClose(closing, () => false, 500);
  closing.addHook('preClose', (done) => {
    request.end('rest');
    // The suspension is longer than the time after which requests in flight are aborted.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    done();
  });
  const address = await closing.listen({ host: '127.0.0.1', port: 0 });
  const request = startRequest(address, { method: 'POST', headers: { 'content-type': 'text/plain' } });
  request.write('half');
  await once(closing.server, 'request');
  const closed = closing.close();
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(200);
  await closed;
});
