import { EventEmitter } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { readTrustedProxies } from '../../settings/trusted-proxies.ts';
import { limitConnectionsPerNetwork } from './open-per-network.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function listen(trusted?: string): Promise<() => Promise<{ socket: Socket; status: string }>> {
  const app = Fastify({ forceCloseConnections: true });
  limitConnectionsPerNetwork(app, trusted === undefined ? undefined : readTrustedProxies(trusted), 2);
  app.get('/', async () => 'here');
  await app.listen({ host: '127.0.0.1', port: 0 });
  closing.push(() => app.close());
  return async () => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    closing.push(() => socket.destroy());
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    // `once` would reject if the request arrives before its connection is closed, because the server then resets it.
    const status = await new Promise<string>((resolve) => {
      socket.once('data', (text) => resolve(String(text).slice(9, 12))).once('close', () => resolve('closed'));
    });
    return { socket, status };
  };
}

test('a network at its limit gets no further connection until one of its connections ends', async () => {
  const open = await listen();
  const first = await open();
  expect([first.status, (await open()).status, (await open()).status]).toEqual(['200', '200', 'closed']);
  first.socket.destroy();
  await expect.poll(async () => (await open()).status).toBe('200');
});

test('an IPv6 /48, which one customer may have, has eight times the limit of its networks', () => {
  const server = new EventEmitter() as unknown as FastifyInstance['server'];
  limitConnectionsPerNetwork({ server }, undefined, 2);
  const openFrom = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false });
    server.emit('connection', Object.assign(socket, { destroy: () => (socket.destroyed = true) }));
    return socket;
  };
  const sockets = Array.from({ length: 17 }, (_, index) => openFrom(`2001:db8:1:${index}::1`));
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([...Array(16).fill(false), true]);
  expect(openFrom('2001:db8:2::1').destroyed).toBe(false);
  sockets[0]?.emit('close');
  expect(openFrom('2001:db8:1:99::1').destroyed).toBe(false);
});

test('a trusted proxy has no limit', async () => {
  const open = await listen('127.0.0.1');
  expect([(await open()).status, (await open()).status, (await open()).status]).toEqual(['200', '200', '200']);
});
