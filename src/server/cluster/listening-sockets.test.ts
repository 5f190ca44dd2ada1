import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { bindSocket, listenOnPort, listenOnSocket } from './listening-sockets.ts';

let app: FastifyInstance | undefined;
afterEach(() => app?.close());

/** Returns the kernel's limit on the backlog of a listening socket. */
function kernelLimit(): number {
  return process.platform === 'linux' ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 128;
}

/** Opens `count` connections, and exits with code 0 when all are established. */
const CONNECT_ALL = `
  const [port, count] = process.argv.slice(1).map(Number);
  let left = count;
  for (let index = 0; index < count; index += 1) {
    require('node:net').connect(port, '127.0.0.1', () => { left -= 1; if (left === 0) process.exit(0); });
  }`;

const hasIpv6 = Object.values(networkInterfaces()).some((found) => found?.some(({ family }) => family === 'IPv6'));

test.each(hasIpv6 ? ['0.0.0.0', '::'] : ['0.0.0.0'])(
  'the address of a site that listens on %s can be opened',
  async (host) => {
    app = fastify();
    expect(new URL(await listenOnPort(app, host, 0)).hostname).toBe('127.0.0.1');
    await app.close();
    app = fastify();
    expect(new URL(await listenOnSocket(app, await bindSocket(host, 0))).hostname).toBe('127.0.0.1');
  },
);

test.each([
  ['of one process', (app: FastifyInstance) => listenOnPort(app, '127.0.0.1', 0)],
  ['of a worker', async (app: FastifyInstance) => listenOnSocket(app, await bindSocket('127.0.0.1', 0))],
])('a thousand clients that connect at once wait in the queue %s', async (_, listen) => {
  app = fastify();
  const { port } = new URL(await listen(app));
  // `spawnSync` blocks this process, so the server accepts no connection until the child has exited.
  const count = Math.min(1_000, kernelLimit());
  const { status } = spawnSync(process.execPath, ['-e', CONNECT_ALL, port, String(count)], { timeout: 60_000 });
  expect(status).toBe(0);
});
