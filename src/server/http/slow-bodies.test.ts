import { once } from 'node:events';
import { request as startRequest } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { endSlowBodies, handleConnectionError } from './server-limits.ts';

const BASE_MS = 100;
let app: FastifyInstance;
let address: string;
let respond: () => void;

beforeEach(async () => {
  app = Fastify({ clientErrorHandler: handleConnectionError });
  // Each byte extends the timeout by a second.
  endSlowBodies(app, { baseMs: BASE_MS, bytesPerMs: 0.001 });
  app.post('/', () => new Promise((resolve) => (respond = () => resolve('done'))));
  address = await app.listen({ port: 0 });
});
afterEach(() => app.close());

/** Sends the first part of a body. */
function send(headers: Record<string, string>, part: string) {
  const request = startRequest(address, { method: 'POST', headers: { 'content-type': 'text/plain', ...headers } });
  request.on('error', () => {});
  request.write(part);
  return request;
}

test.each([
  ['a request', {}],
  ['a request with an unknown Expect header', { expect: 'a-reply' }],
])('%s whose body does not arrive in time gets 408, and its connection is closed', async (_what, headers) => {
  const request = send({ 'transfer-encoding': 'chunked', ...headers }, 'a');
  const [response] = await once(request, 'response');
  expect(response).toMatchObject({ statusCode: 408, headers: { connection: 'close' } });
});

test('a body announced as so large that its timeout would overflow a timer gets 413, without a warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const huge = send({ 'content-length': '9'.repeat(15) }, 'a');
  const [response] = await once(huge, 'response');
  expect(response.statusCode).toBe(413);
  const late = send({ 'transfer-encoding': 'chunked' }, 'a');
  await once(late, 'response');
  expect(warnings).toEqual([]);
});

test('a larger body has more time, and a handler has no timeout', async () => {
  const late = send({ 'transfer-encoding': 'chunked' }, 'a');
  const large = send({ 'content-length': '60' }, 'a'.repeat(59));
  await once(late, 'response');
  large.end('a');
  await expect.poll(() => respond).toBeDefined();
  const other = send({ 'transfer-encoding': 'chunked' }, 'a');
  await once(other, 'response');
  respond();
  const [response] = await once(large, 'response');
  expect(response.statusCode).toBe(200);
});
