import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { HttpConnection, requestText } from '../../bench/harness/http-connection.ts';

test('a request on a connection that the server has closed fails instead of waiting forever', async () => {
  const server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = new HttpConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect((await connection.send(requestText('GET', '/', 'session'))).body).toBe('here');
  server.closeAllConnections();
  await expect.poll(() => connection.isOpen).toBe(false);
  await expect(connection.send(requestText('GET', '/', 'session'))).rejects.toThrow();
  server.close();
});
