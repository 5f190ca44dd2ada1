import { once } from 'node:events';
import fs from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { createLogLines } from '../support/log-lines.ts';
import { addOperator } from '../support/operator.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const { log, text: logText } = createLogLines();
let site: TestSite;
let port: number;

beforeAll(async () => {
  site = await startTestSite({ log, rateLimits: DEFAULT_RATE_LIMITS });
  await site.app.listen({ host: '127.0.0.1', port: 0 });
  port = (site.app.server.address() as AddressInfo).port;
});

afterAll(() => site.close());

/** Sends raw data over a new connection. @returns all data that the server sends until it closes the connection. */
async function talk(...send: (string | Buffer)[]): Promise<string> {
  const socket = await open();
  let response = '';
  socket.on('data', (chunk) => {
    response += chunk.toString('latin1');
  });
  for (const part of send) socket.write(part);
  await once(socket, 'close');
  return response;
}

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  // Ignores the reset that may follow when the server closes the connection early.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

function expectRawProblem(response: string, status: number, code: string): void {
  const [head = '', body = ''] = response.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/Content-Type: application\/problem\+json/i);
  expect(head).toMatch(/Connection: close/i);
  expect(JSON.parse(body)).toMatchObject({
    type: 'about:blank',
    status,
    code,
    detail: expect.stringMatching(/^[A-Z]/),
  });
}

const SECRET = 'session-0f8fad5b-d9cb-469f-a165-70867728950e';

describe('oversized requests are refused with a clear response', () => {
  test('a URL of more than 8 KiB gets 414', async () => {
    const longest = await site.ask.get(`/api/products?cursor=${'a'.repeat(8 * 1024 - 21)}`);
    expectProblem(longest, 400, 'bad_request');
    expectProblem(await site.ask.get(`/api/products?cursor=${'a'.repeat(8 * 1024)}`), 414, 'uri_too_long');
    expectProblem(await site.ask.get(`/${'a'.repeat(8 * 1024)}`), 414, 'uri_too_long');
  });

  test('a URL larger than the limit for all headers gets 414', async () => {
    const line = `GET /${'a'.repeat(20_000)}`;
    expectRawProblem(await talk(line), 414, 'uri_too_long');
    expectRawProblem(await talk(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`), 414, 'uri_too_long');
  });

  test('headers of more than 16 KiB get 431', async () => {
    const response = await talk(
      `GET / HTTP/1.1\r\nHost: x\r\nX-User-Session: ${SECRET}\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expectRawProblem(response, 431, 'headers_too_large');
  });

  test('a body of more than 16 KiB gets 413 before the server has read all of it', async () => {
    const head = (length: string) =>
      `POST /api/comments HTTP/1.1\r\nHost: x\r\nX-User-Session: ${SECRET}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
    expect(await talk(head('Content-Length: 1000000000'), 'a'.repeat(70_000))).toMatch(/^HTTP\/1.1 413 /);
    const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
    expect(await talk(head('Transfer-Encoding: chunked\r\nConnection: close'), chunk, chunk)).toMatch(
      /^HTTP\/1.1 413 /,
    );
  });
});

describe('invalid HTTP', () => {
  test.each([
    ['TLS on a plain port', Buffer.from('16030100c4010000c00303', 'hex')],
    ['nonsense', 'hello\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a missing Host header', 'GET / HTTP/1.1\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['a NUL in the URL', 'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'a chunk with an invalid size',
      'POST /api/comments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
  ])('%s gets 400 and is disconnected', async (_what, bytes) => {
    expect(await talk(bytes)).toMatch(/^HTTP\/1.1 400 /);
  });

  test('nonsense after the beginning of a response is not answered in its body', async () => {
    const socket = await open();
    socket.write('GET /api/events HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    let rest = '';
    socket.on('data', (chunk) => (rest += chunk));
    socket.write('hello\r\n\r\n');
    await once(socket, 'close');
    expect(rest).not.toContain('HTTP/1.1');
  });
});

test('silent connections are closed, and slow requests get 408, while other requests are served', async () => {
  const { server } = site.app;
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 1_800_000, maxConnections: 10_000 });
  const silent = await Promise.all(Array.from({ length: 50 }, open));
  const closed = Promise.all(silent.map((socket) => once(socket.resume(), 'close')));
  const slow = talk(`GET / HTTP/1.1\r\nHost: x\r\nX-User-Session: ${SECRET}\r\n`);
  const body = talk(
    'POST /api/comments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  );
  expect(await talk('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  // Shortens the timeouts. The server checks them every two seconds.
  const { headersTimeout, requestTimeout } = server;
  onTestFinished(() => void Object.assign(server, { headersTimeout, requestTimeout }));
  server.headersTimeout = 500;
  server.requestTimeout = 1_000;
  expectRawProblem(await slow, 408, 'request_timeout');
  expect(await body).toMatch(/^HTTP\/1.1 408 /);
  await closed;
});

test('a client that pipelines many requests, or any behind a stream, is disconnected, and the files opened for it are closed', async () => {
  const file = '/pictures/p5js/shot-1.webp';
  const opened = vi.spyOn(fs, 'createReadStream');
  let requests = 0;
  const count = ({ url }: IncomingMessage) => {
    if (url === file) requests += 1;
  };
  site.app.server.on('request', count);
  onTestFinished(() => {
    opened.mockRestore();
    site.app.server.off('request', count);
  });
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  await talk(get(file).repeat(100));
  const streaming = await open();
  streaming.write(get('/api/events'));
  expect(String(await once(streaming, 'data'))).toMatch(/^HTTP\/1.1 200 /);
  const closed = once(streaming.resume(), 'close');
  streaming.write(get(file).repeat(2));
  await closed;
  // The server opens some files only after the connection has closed.
  await expect.poll(() => opened.mock.results.length).toBe(requests);
  await expect.poll(() => opened.mock.results.filter(({ value }) => !value.closed).length).toBe(0);
});

test('a request to the console whose body arrives too late gets 408, unless it is an import by a signed-in operator', async () => {
  const { cookie } = await addOperator(site);
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
  vi.stubEnv('TMPDIR', folder);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(async () => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true });
  });
  const csv = 'id,name\ntide,Tide\n';
  const head = (path: string, type: string, ...headers: string[]) =>
    [`POST /api/console/${path} HTTP/1.1`, 'Host: x', 'Sec-Fetch-Site: same-origin', `Content-Type: ${type}`]
      .concat(`Content-Length: ${csv.length}`, headers, '\r\n')
      .join('\r\n');
  const importHead = (...headers: string[]) =>
    head('import?name=a.csv&kind=csv&dryRun=true', 'application/octet-stream', ...headers);

  const operator = await open();
  let imported = '';
  operator.on('data', (chunk) => {
    imported += chunk;
  });
  operator.write(importHead(`Cookie: ${cookie}`, 'Connection: close') + csv.slice(0, -1));
  await expect.poll(() => readdir(folder)).toHaveLength(1);

  const arrived = once(site.app.server, 'request');
  const signingIn = talk(`${head('sign-in', 'application/json')}{`);
  await arrived;
  const stranger = await open();
  const ended = once(stranger, 'close');
  stranger.write(`${importHead()}i`);
  expect(String(await once(stranger, 'data'))).toMatch(/^HTTP\/1.1 401 /);
  vi.advanceTimersByTime(180_000);
  expectRawProblem(await signingIn, 408, 'request_timeout');
  await ended;
  vi.useRealTimers();
  operator.write(csv.slice(-1));
  await once(operator, 'close');
  expect(imported).toMatch(/^HTTP\/1.1 200 [\s\S]*"kind":"done"/);
});

test('the log contains neither the session nor the address of an oversized, invalid or slow request', () => {
  expect(logText()).not.toContain(SECRET);
  // Ignores the server's message about its own address.
  expect(logText().replaceAll(`127.0.0.1:${port}`, '')).not.toMatch(/127\.0\.0\.1|::1/);
});
