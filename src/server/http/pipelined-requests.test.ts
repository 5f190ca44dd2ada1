import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limitPipelinedRequests } from './connections.ts';

let server: FastifyInstance;
let client: Socket;
let asked: number;
let closed: number;
let letRespond: () => void;

beforeEach(async () => {
  asked = 0;
  closed = 0;
  const mayRespond = new Promise<void>((resolve) => {
    letRespond = resolve;
  });
  server = Fastify();
  limitPipelinedRequests(server);
  server.get('/', async (_request, reply) => {
    asked += 1;
    reply.raw.once('close', () => {
      closed += 1;
    });
    await mayRespond;
    return 'response';
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  client = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  await once(client, 'connect');
});

afterEach(async () => {
  letRespond();
  client.destroy();
  await server.close();
});

function askAtOnce(times: number): void {
  client.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(times));
}

/** Returns a function that counts the responses received so far. */
function countResponses(): () => number {
  let text = '';
  client.on('data', (bytes) => {
    text += bytes;
  });
  return () => text.split('HTTP/1.1 200 OK').length - 1;
}

test('a hundred requests may be pipelined, repeatedly', async () => {
  const responses = countResponses();
  askAtOnce(101);
  await expect.poll(() => asked).toBe(101);
  expect(responses()).toBe(0);
  letRespond();
  await expect.poll(responses).toBe(101);
  askAtOnce(101);
  await expect.poll(responses).toBe(202);
});

test('more than a hundred waiting requests close the connection and each response', async () => {
  const ended = once(client, 'close');
  client.on('error', () => {});
  askAtOnce(102);
  await ended;
  await expect.poll(() => closed).toBe(asked);
});

test('when the client resets a connection, each waiting response is closed once', async () => {
  askAtOnce(3);
  await expect.poll(() => asked).toBe(3);
  client.resetAndDestroy();
  await expect.poll(() => closed).toBe(3);
  letRespond();
  await server.close();
  expect(closed).toBe(3);
});
