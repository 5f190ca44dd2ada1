import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { setLanguage } from '../language/translate.ts';
import { ApiError, createHttpApi } from './http-api.ts';

const SESSION = 'session-3f8a5c1e-0000-4000-8000-000000000001';
const servers: Server[] = [];

afterEach(async () => {
  setLanguage({ locale: 'en-US' });
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

/**
 * Starts a server that sends the same response to every request. Returns an API client, the server's URL and the
 * received requests.
 */
async function apiResponding(respond: (response: ServerResponse) => void, timeoutMs = 60_000) {
  const seen: Seen[] = [];
  const started = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    respond(response);
  });
  servers.push(started);
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  return { api: createHttpApi({ sessionId: () => SESSION, origin, timeoutMs }), address: origin, seen };
}

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'Content-Type': status < 400 ? 'application/json' : 'application/problem+json' });
    response.end(JSON.stringify(body));
  };
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe('a request', () => {
  test('omits unset parameters, and contains the session id only if its operation needs it', async () => {
    const { api, seen } = await apiResponding(json({ items: [], nextCursor: null, upvoted: [] }));
    await api.listProducts({ q: 'a&b %_\\', tag: '' });
    await api.getUpvoted(['a', 'b']);
    expect(seen.map(({ url }) => url)).toEqual(['/api/products?q=a%26b+%25_%5C', '/api/upvotes?products=a%2Cb']);
    expect(seen[0]?.headers['x-user-session']).toBeUndefined();
    expect(seen[1]?.headers['x-user-session']).toBe(SESSION);
  });

  test('has the method, headers and body that its operation needs', async () => {
    const { api, seen } = await apiResponding(json({ comment: { id: 'c' } }, 201));
    await api.setUpvote('a', true);
    await api.setUpvote('a', false);
    const added = await api.addComment({ productId: 'a', content: 'Hm' }, 'draft-1');
    expect(added).toEqual({ comment: { id: 'c' }, isNew: true });
    await api.likeComment('c');
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /api/products/a/upvote',
      'DELETE /api/products/a/upvote',
      'POST /api/comments',
      'POST /api/comments/c/like',
    ]);
    expect(new Set(seen.map(({ headers }) => headers['x-user-session']))).toEqual(new Set([SESSION]));
    expect(seen[2]?.headers['idempotency-key']).toBe('draft-1');
    expect(JSON.parse(seen[2]?.body ?? '')).toEqual({ productId: 'a', content: 'Hm' });
    expect(seen[3]?.headers['content-type']).toBeUndefined();
  });
});

describe('an upvote that was sent before the app ran', () => {
  const path = '/api/products/a/upvote';

  test('is not sent again, but the next upvote is sent', async () => {
    const { address, seen } = await apiResponding(json({ upvoted: true, upvotes: 9 }));
    const sentUpvotes = new Map([[path, Promise.resolve(Response.json({ upvoted: true, upvotes: 8 }))]]);
    const api = createHttpApi({ sessionId: () => SESSION, origin: address, sentUpvotes });
    expect(await api.setUpvote('a', true)).toEqual({ upvoted: true, upvotes: 8 });
    expect(seen).toEqual([]);
    expect(await api.setUpvote('a', true)).toEqual({ upvoted: true, upvotes: 9 });
  });

  test.each([
    ['timeout', new DOMException('Too long', 'TimeoutError')],
    ['network', new TypeError('Failed to fetch')],
  ])('rejects like any other failed request: %s', async (code, reason) => {
    const sent = Promise.reject(reason);
    const api = createHttpApi({ sessionId: () => SESSION, sentUpvotes: new Map([[path, sent]]) });
    expect(await failure(api.setUpvote('a', true))).toMatchObject({ status: 0, code });
  });
});

describe('failures', () => {
  test('an error response yields an ApiError with its status, code and message', async () => {
    const { api } = await apiResponding(json({ code: 'unavailable', detail: 'Try again soon' }, 503));
    expect(await failure(api.listProducts({}))).toMatchObject({
      status: 503,
      code: 'unavailable',
      message: 'Try again soon',
    });
  });

  test('the HTML error page of a proxy yields an ApiError with its status', async () => {
    const { api } = await apiResponding((response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
    expect(await failure(api.likeComment('c'))).toMatchObject({
      status: 502,
      code: 'unknown',
      message: 'The server responded with 502',
    });
    setLanguage({ locale: 'de', messages: { 'The server responded with {status}': 'Antwort: {status}' } });
    expect(await failure(api.likeComment('c'))).toMatchObject({ message: 'Antwort: 502' });
  });

  test('a timeout and a lost connection yield an ApiError with status 0', async () => {
    const { api } = await apiResponding(() => {}, 50);
    expect(await failure(api.listProducts({}))).toMatchObject({ status: 0, code: 'timeout' });
    const { api: cut } = await apiResponding((response) => response.destroy());
    expect(await failure(cut.listProducts({}))).toMatchObject({ status: 0, code: 'network' });
  });

  test('reading an unknown product resolves to null', async () => {
    const { api } = await apiResponding(json({ code: 'product_not_found', detail: 'Product not found' }, 404));
    expect(await api.getProduct('nope')).toBeNull();
  });

  test('the HTML error page of a proxy does not mean that a product is unknown', async () => {
    const { api } = await apiResponding((response) => response.writeHead(404).end('<h1>Not found</h1>'));
    expect(await failure(api.getProduct('harbour'))).toMatchObject({ status: 404, code: 'unknown' });
  });

  test('an abort by the caller does not yield an ApiError', async () => {
    const { api } = await apiResponding(() => {});
    const abort = new AbortController();
    const asked = failure(api.listProducts({}, abort.signal));
    abort.abort();
    expect(await asked).not.toBeInstanceOf(ApiError);
  });
});
