import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Tally } from '../../core/leaderboards/read-tally.ts';
import { MIN_READ_RATE, sendTally } from './send-tally.ts';

const LINE = `${'x'.repeat(1_000)}\n`;

/** No client can read this fast. */
const IMPOSSIBLE_RATE = { graceMs: 1, bytesPerMs: Number.POSITIVE_INFINITY, maxMs: 600_000 };

const app = Fastify();
let noteRelease: () => void;
const released = new Promise<void>((resolve) => {
  noteRelease = resolve;
});
let port = 0;

beforeAll(async () => {
  app.get<{ Params: { id: string } }>('/:id', (request, reply) => {
    const core = {
      async readTally(_day: string, _reader: string | undefined, use: (tally: Tally) => Promise<void>) {
        await use({ version: 'open:1', chunks: endless }).finally(noteRelease);
        return true;
      },
    };
    return sendTally(core, undefined, request, reply, IMPOSSIBLE_RATE);
  });
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => app.close());

async function* endless(): AsyncGenerator<string> {
  for (;;) yield LINE;
}

test('a client may take 30 seconds plus a second per 64 KB to read a tally, and at most 15 minutes', () => {
  expect(MIN_READ_RATE).toEqual({ graceMs: 30_000, bytesPerMs: 64, maxMs: 900_000 });
});

test('a client that reads too slowly is disconnected, and its snapshot is released', async () => {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  let received = '';
  const closed = once(client, 'close');
  client.write('GET /2026-11-22 HTTP/1.1\r\nHost: a\r\n\r\n');
  await released;
  client.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  await closed;
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received).toContain(LINE);
});
