import { once } from 'node:events';
import { type ServerResponse, request as startRequest } from 'node:http';
import { connect } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PICTURE_UPLOADS } from '../../contract/products/picture-uploads.ts';
import { CoreError } from '../../core/core-error.ts';
import type { UploadedPicture } from '../../core/pictures/picture-store.ts';
import { acceptJsonOnly, handleError } from '../http/error-handler.ts';
import { SERVER_LIMITS } from '../http/server-limits.ts';
import { receivePictures } from './receive-pictures.ts';

let app: FastifyInstance;
let admitted: string[];
let released: number;
let processed: (UploadedPicture & { signal: AbortSignal | undefined })[];
let isFull: boolean;
let isDiskFull: boolean;
let reclaimSlot: (() => void) | undefined;
let process: () => Promise<string>;
/** Stands for the hooks that check the sender in the database. */
let beforeAdmission: () => Promise<void>;

beforeEach(async () => {
  [admitted, released, processed, isFull, isDiskFull] = [[], 0, [], false, false];
  process = async () => '/images/a.webp';
  beforeAdmission = async () => {};
  app = Fastify({ clientErrorHandler: SERVER_LIMITS.clientErrorHandler });
  app.setErrorHandler(handleError);
  acceptJsonOnly(app);
  app.post('/json', async ({ body }) => body);
  await app.register(async (scope) => {
    const receive = receivePictures(scope, {
      async requireDiskSpace() {
        if (isDiskFull) throw new CoreError('overloaded', 'The disk is full');
      },
      admit(sender, onLost) {
        reclaimSlot = onLost;
        if (isFull) throw new CoreError('overloaded', 'Too many pictures');
        admitted.push(sender);
        return {
          process(picture, signal) {
            processed.push({ ...picture, signal });
            return process();
          },
          release: () => {
            released += 1;
          },
        };
      },
    });
    scope.addHook('onRequest', () => beforeAdmission());
    scope.put('/picture', (request) => receive(request, 'image'));
  });
});
afterEach(() => app.close());

const put = (payload: Buffer, headers: Record<string, string>) =>
  app.inject({ method: 'PUT', url: '/picture', payload, headers });

test('the bytes and their declared type reach the pipeline, and the slot is freed afterwards', async () => {
  const bytes = Buffer.from([0xff, 0, 0x80]);
  const response = await put(bytes, { 'content-type': 'image/PNG; name=a' });
  expect(response.body).toBe('/images/a.webp');
  expect(processed).toMatchObject([{ bytes, declaredType: 'image/png', use: 'image' }]);
  expect(admitted).toEqual(['7f0000']);
  expect(released).toBe(1);
});

test('the media type image/jpg is accepted', async () => {
  await put(Buffer.from('x'), { 'content-type': 'image/jpg' });
  expect(processed[0]?.declaredType).toBe('image/jpeg');
});

test('a picture may have at most 5 MiB', async () => {
  const headers = { 'content-type': 'image/png' };
  expect(await put(Buffer.alloc(PICTURE_UPLOADS.maxBytes), headers)).toMatchObject({ statusCode: 200 });
  const refused = await put(Buffer.alloc(PICTURE_UPLOADS.maxBytes + 1), headers);
  expect(refused.json()).toMatchObject({
    status: 413,
    code: 'body_too_large',
    detail: expect.stringContaining('5 MiB'),
  });
  expect(released).toBe(2);
});

test.each([
  ['a body without a type', {}],
  ['JSON', { 'content-type': 'application/json' }],
  ['an SVG', { 'content-type': 'image/svg+xml' }],
  ['a form', { 'content-type': 'multipart/form-data; boundary=a' }],
  ['a compressed body', { 'content-type': 'image/png', 'content-encoding': 'gzip' }],
])('%s is refused before a slot is taken', async (_what, headers) => {
  const response = await put(Buffer.from('{}'), headers);
  expect(response.json()).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  expect(admitted).toEqual([]);
});

test('an empty body reaches the pipeline as an empty buffer', async () => {
  await put(Buffer.alloc(0), { 'content-type': 'image/png' });
  expect(processed[0]?.bytes).toEqual(Buffer.alloc(0));
});

test('if the disk is full, the response is 503 and no slot is taken', async () => {
  isDiskFull = true;
  const response = await put(Buffer.from('x'), { 'content-type': 'image/png' });
  expect(response.json()).toMatchObject({ status: 503, code: 'overloaded', detail: 'The disk is full' });
  expect(admitted).toEqual([]);
});

test('if the pipeline is full, the response is 503 with Retry-After before the body is received', async () => {
  isFull = true;
  const address = await app.listen({ port: 0 });
  const request = startRequest(`${address}/picture`, {
    method: 'PUT',
    headers: { 'content-type': 'image/png', 'content-length': PICTURE_UPLOADS.maxBytes },
  });
  request.flushHeaders();
  const [response] = await once(request, 'response');
  expect(response).toMatchObject({ statusCode: 503, headers: { 'retry-after': '2' } });
  request.on('error', () => {});
  request.destroy();
});

test('when a sender disconnects, the slot is freed and the picture is abandoned', async () => {
  const address = await app.listen({ port: 0 });
  process = () => new Promise(() => {});
  const request = startRequest(`${address}/picture`, { method: 'PUT', headers: { 'content-type': 'image/png' } });
  request.on('error', () => {});
  request.end('x');
  await expect.poll(() => processed.length).toBe(1);
  expect(processed[0]?.signal?.aborted).toBe(false);
  request.destroy();
  await expect.poll(() => released).toBe(1);
  expect(processed[0]?.signal?.aborted).toBe(true);
});

test('when a sender disconnects during the upload, the slot is freed', async () => {
  const address = await app.listen({ port: 0 });
  const request = startRequest(`${address}/picture`, {
    method: 'PUT',
    headers: { 'content-type': 'image/png', 'content-length': 10 },
  });
  request.on('error', () => {});
  request.write('x');
  await expect.poll(() => admitted.length).toBe(1);
  request.destroy();
  await expect.poll(() => released).toBe(1);
  expect(processed).toEqual([]);
});

test('a sender that disconnects before admission takes no slot', async () => {
  let isConnected = false;
  const disconnected = new Promise<void>((resolve) => {
    app.server.once('request', (_request, response) => response.once('close', resolve));
  });
  beforeAdmission = () => {
    isConnected = true;
    return disconnected;
  };
  const request = startRequest(`${await app.listen({ port: 0 })}/picture`, {
    method: 'PUT',
    headers: { 'content-type': 'image/png', 'content-length': 10 },
  });
  request.on('error', () => {});
  request.flushHeaders();
  await expect.poll(() => isConnected).toBe(true);
  request.destroy();
  await disconnected;
  beforeAdmission = async () => {};
  // A later request shows that the first one would have been admitted by now.
  await put(Buffer.from('x'), { 'content-type': 'image/png' });
  expect(admitted).toHaveLength(1);
});

test('an upload behind an unfinished response is refused, because it would keep its slot until that response ends', async () => {
  let finish = () => {};
  app.get('/unfinished', (_request, reply) => {
    finish = () => void reply.send('done');
  });
  const responses: ServerResponse[] = [];
  app.server.on('request', (_request, response) => responses.push(response));
  const socket = connect(Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port), '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.write('GET /unfinished HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.write('PUT /picture HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 1\r\n\r\nx');
  await expect.poll(() => responses[1]?.writableEnded).toBe(true);
  expect(admitted).toEqual([]);
  finish();
  await expect.poll(() => received).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 400 [\s\S]*cannot be pipelined/);
  socket.destroy();
});

test('an upload that loses its slot gets 408, and its connection is closed', async () => {
  const address = await app.listen({ port: 0 });
  const request = startRequest(`${address}/picture`, {
    method: 'PUT',
    headers: { 'content-type': 'image/png', 'content-length': 10 },
  });
  request.on('error', () => {});
  request.write('x');
  await expect.poll(() => admitted.length).toBe(1);
  reclaimSlot?.();
  const [response] = await once(request, 'response');
  expect(response).toMatchObject({ statusCode: 408, headers: { connection: 'close' } });
  await expect.poll(() => released).toBe(1);
  expect(processed).toEqual([]);
});

test('routes outside the scope still accept JSON only', async () => {
  const headers = { 'content-type': 'image/png' };
  const response = await app.inject({ method: 'POST', url: '/json', payload: Buffer.from('x'), headers });
  expect(response.statusCode).toBe(415);
});
