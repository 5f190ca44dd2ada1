import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import type { Core } from '../../core/core.ts';
import type { Tally } from '../../core/leaderboards/read-tally.ts';
import { MIN_READ_RATE, sendTally } from './send-tally.ts';

const LINE = `${'x'.repeat(1_000)}\n`;

/** No client can read this fast. */
const IMPOSSIBLE_RATE = { graceMs: 1, bytesPerMs: Number.POSITIVE_INFINITY, maxMs: 600_000 };

const logLines = createLogLines();
const app = Fastify({ loggerInstance: logLines.log });
const events = new EventEmitter();
const released = once(events, 'released');
const lineReceived = once(events, 'line received');
const turn = new AbortController();
let port = 0;

beforeAll(async () => {
  const serve = (
    path: string,
    chunks: Tally['chunks'],
    { minReadRate = MIN_READ_RATE, signal = new AbortController().signal, onRelease = () => {} } = {},
  ) =>
    app.get<{ Params: { id: string } }>(path, (request, reply) => {
      const core = {
        readTally: async (...[_day, _reader, use]: Parameters<Core['readTally']>) => {
          await use({ version: 'open:1', chunks }, signal).finally(onRelease);
          return true;
        },
      };
      return sendTally(core, undefined, request, reply, minReadRate);
    });
  serve('/endless/:id', endless, { minReadRate: IMPOSSIBLE_RATE, onRelease: () => events.emit('released') });
  serve('/overdue/:id', endless, { signal: turn.signal });
  serve('/long/:id', endless, { minReadRate: { ...MIN_READ_RATE, maxMs: 50 } });
  serve('/failing/:id', failing);
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => app.close());

async function* endless(): AsyncGenerator<string> {
  for (;;) yield LINE;
}

async function* failing(): AsyncGenerator<string> {
  yield LINE;
  await lineReceived;
  throw new Error('The database failed');
}

/** Requests a tally, without reading the response. */
function request(path: string): Socket {
  const client = connect(port, '127.0.0.1').setEncoding('utf8');
  client.on('error', () => {});
  client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return client;
}

let taken = 0;

/** Returns the messages of the warnings and errors that were logged since the last call. */
function takeWarnings(): unknown[] {
  const warnings = logLines.lines().filter(({ level }) => Number(level) >= 40);
  const added = warnings.slice(taken).map(({ err }) => (err as Error | undefined)?.message);
  taken = warnings.length;
  return added;
}

test('a client may take 30 seconds plus a second per 64 KB to read a tally, and at most 15 minutes', () => {
  expect(MIN_READ_RATE).toEqual({ graceMs: 30_000, bytesPerMs: 64, maxMs: 900_000 });
});

test('a client that reads too slowly is disconnected with one warning, and its snapshot is released', async () => {
  const client = request('/endless/2026-11-22');
  const closed = once(client, 'close');
  let received = '';
  await released;
  client.on('data', (text: string) => {
    received += text;
  });
  await closed;
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received).toContain(LINE);
  expect(takeWarnings()).toEqual([expect.stringContaining('aborted')]);
});

test('a client that reads fast is disconnected when its turn ends, with one warning', async () => {
  const client = request('/overdue/2026-11-22');
  const closed = once(client, 'close');
  client.on('data', () => turn.abort());
  await closed;
  expect(takeWarnings()).toEqual([expect.stringContaining('aborted')]);
});

test('a client that reads fast is disconnected after the longest time for a tally, with one warning', async () => {
  const client = request('/long/2026-11-22');
  await once(client.resume(), 'close');
  expect(takeWarnings()).toEqual([expect.stringContaining('aborted')]);
});

test('a failure while a tally is being sent closes the connection, and is logged once', async () => {
  const client = request('/failing/2026-11-22');
  const closed = once(client, 'close');
  let received = '';
  client.on('data', (text: string) => {
    received += text;
    if (received.includes(LINE)) events.emit('line received');
  });
  await closed;
  expect(takeWarnings()).toEqual(['The database failed']);
});
