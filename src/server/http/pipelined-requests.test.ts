import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { limitPipelinedRequests } from './connections.ts';

let server: FastifyInstance;
let client: Socket;
let asked: number;
let closed: number;
let files: Readable[];
let letRespond: () => void;

beforeEach(async () => {
  asked = 0;
  closed = 0;
  files = [];
  const mayRespond = new Promise<void>((resolve) => {
    letRespond = resolve;
  });
  server = Fastify();
  limitPipelinedRequests(server);
  const wait = (reply: FastifyReply) => {
    asked += 1;
    reply.raw.once('close', () => {
      closed += 1;
    });
    return mayRespond;
  };
  server.get('/', async (_request, reply) => {
    await wait(reply);
    return 'response';
  });
  server.get('/file', async (_request, reply) => {
    await wait(reply);
    const file = new Readable({ read() {} });
    files.push(file);
    return reply.send(file);
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

function askAtOnce(times: number, path = '/'): void {
  client.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`.repeat(times));
}

/** Returns a function that counts the responses received so far. */
function countResponses(): () => number {
  let text = '';
  client.on('data', (bytes) => {
    text += bytes;
  });
  return () => text.split('HTTP/1.1 200 OK').length - 1;
}

test('four pipelined requests may wait on a connection, any number of times', async () => {
  const responses = countResponses();
  askAtOnce(5);
  await expect.poll(() => asked).toBe(5);
  expect(responses()).toBe(0);
  letRespond();
  await expect.poll(responses).toBe(5);
  askAtOnce(5);
  await expect.poll(responses).toBe(10);
});

test('more than four waiting requests close the connection and each response', async () => {
  const ended = once(client, 'close');
  client.on('error', () => {});
  askAtOnce(6);
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

test('a file that is opened for a waiting request after the connection closed is closed', async () => {
  askAtOnce(3, '/file');
  await expect.poll(() => asked).toBe(3);
  client.resetAndDestroy();
  await expect.poll(() => closed).toBe(3);
  letRespond();
  await expect.poll(() => files.filter(({ destroyed }) => destroyed)).toHaveLength(3);
});
