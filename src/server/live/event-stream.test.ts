import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { EventStream } from './event-stream.ts';

const server = createServer();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Opens a stream, and returns both ends of its connection. */
async function openStream(): Promise<{ stream: EventStream; serverSide: Socket; client: Socket }> {
  if (!server.listening) await once(server.listen(0), 'listening');
  const client = connect((server.address() as AddressInfo).port);
  sockets.push(client.on('error', () => {}));
  client.write('GET / HTTP/1.1\r\nHost: site\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const serverSide = response.socket as Socket;
  const stream = new EventStream(response, serverSide);
  stream.begin(Buffer.from(':\n\n'));
  return { stream, serverSide, client };
}

test('a client that does not read is disconnected before it occupies much memory', async () => {
  const { stream, serverSide, client } = await openStream();
  client.pause();
  const frame = Buffer.alloc(50_000, '.');
  let most = 0;
  // The kernel buffers several megabytes before `writableLength` grows.
  let sent = 0;
  while (stream.send(frame)) {
    sent += 1;
    most = Math.max(most, serverSide.writableLength);
    await new Promise(setImmediate);
  }
  expect(sent).toBeGreaterThan(1);
  expect(most).toBeLessThan(64 * 1024 + frame.length);
  expect(serverSide.destroyed).toBe(true);
  // Further frames are ignored, so the client is counted as dropped only once.
  expect(stream.send(frame)).toBe(true);
});

test('a frame larger than the limit of unread bytes reaches a client that reads', async () => {
  const { stream, client } = await openStream();
  let received = 0;
  client.on('data', (bytes) => {
    received += bytes.length;
  });
  const frame = Buffer.alloc(300_000, '.');
  expect(stream.send(frame)).toBe(true);
  await expect.poll(() => received).toBeGreaterThan(frame.length);
});
