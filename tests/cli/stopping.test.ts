import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { databasesOf, Ground, installCommand } from '../support/command.ts';
import { openEvents } from '../support/event-client.ts';

const ground = new Ground();
beforeAll(installCommand, 120_000);
afterEach(() => ground.clear());

test('SIGTERM answers what is in flight, does not wait for a client to hang up, and ends with 0 and without a database', async () => {
  const dataDir = await ground.dataDir();
  const site = await ground.serve({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' });
  const { hostname, port } = new URL(site.address);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  await once(socket, 'connect');
  const body = JSON.stringify({ productId: 'git', content: 'Half now, half later.' });
  socket.write(
    `POST /api/comments HTTP/1.1\r\nHost: site\r\nContent-Type: application/json\r\nX-User-Session: session-stopping\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  // Its head has arrived when the next request on another connection was answered.
  await fetch(`${site.address}/healthz`, { headers: { connection: 'close' } });
  const page = await openEvents(`${site.address}/api/events`);
  const deaf = connect(Number(port), hostname);
  deaf.write('GET /api/events HTTP/1.1\r\nHost: site\r\n\r\n');
  await once(deaf, 'data');
  deaf.pause();
  const stoppedAt = performance.now();
  site.process.kill('SIGTERM');
  await expect.poll(() => fetch(`${site.address}/healthz`).catch(() => 'refused'), { timeout: 10_000 }).toBe('refused');
  socket.write(body.slice(10));
  // The client leaves its end of the connection open.
  expect(await site.ended).toMatchObject({ code: 0 });
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  expect(received).toMatch(/^HTTP\/1\.1 201 /);
  expect(received.toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(await databasesOf(dataDir)).toEqual([]);
  // A stream that is open is told when to come back.
  await page.closed;
  expect(page.response.complete).toBe(true);
  expect(page.text()).toMatch(/\nretry: \d+\n\n$/);
  for (const each of [socket, deaf]) each.destroy();
}, 120_000);
