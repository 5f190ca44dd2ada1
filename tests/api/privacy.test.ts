import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { readTrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { createLogLines } from '../support/log-lines.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const { log, lines, text: logText } = createLogLines();
const SESSION = `session-${randomUUID()}`;
/** An invalid session id, which must not leak either. */
const BAD_SESSION = `session_${randomUUID()}`;
const ADDRESSES = ['198.51.100.23', '203.0.113.77', '2001:db8:77::5'];

let site: TestSite;
const responses: string[] = [];

beforeAll(async () => {
  site = await startTestSite({ log, rateLimits: DEFAULT_RATE_LIMITS, trustProxy: readTrustedProxies('loopback') });
});

afterAll(() => site.close());

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';

async function send(method: Method, url: string, body?: string, headers: Record<string, string> = {}): Promise<string> {
  const [visitor = '', proxied = '', other = ''] = ADDRESSES;
  for (const [remoteAddress, forwarded] of [
    ['127.0.0.1', proxied],
    [visitor, other],
    [other, 'unknown'],
  ] as const) {
    for (const session of [SESSION, BAD_SESSION]) {
      const response = await site.app.inject({
        method,
        url,
        remoteAddress,
        headers: {
          'x-user-session': session,
          'x-forwarded-for': forwarded,
          'idempotency-key': `key-${SESSION}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      responses.push(`${JSON.stringify(response.headers)}\n${response.body}`);
    }
  }
  return responses.at(-2) ?? '';
}

test('no log line and no response contains a session or an address, even after failures', async () => {
  const { id } = await site.addProduct();
  const comment = (content: string, extra = {}) => JSON.stringify({ productId: id, content, ...extra });
  for (const url of [
    '/',
    '/?q=a',
    `/product/${id}`,
    '/product/none',
    '/none',
    '/%ff',
    '/healthz',
    '/readyz',
    '/api/none',
  ]) {
    await send('GET', url);
    await send('HEAD', url);
    await send('PATCH', url);
  }
  for (const url of [
    '/api/products',
    '/api/products?q=a',
    '/api/products?limit=x',
    '/api/products?cursor=x',
    '/api/products?q=%00',
  ]) {
    await send('GET', url);
  }
  await send('GET', `/api/products/${id}/comments`);
  await send('GET', `/api/products/${id}/comments/held`);
  await send('GET', `/api/upvotes?products=${id}`);
  for (const product of [id, 'none', '%00']) {
    await send('PUT', `/api/products/${product}/upvote`);
    await send('DELETE', `/api/products/${product}/upvote`);
  }
  for (const body of [
    comment('One'),
    comment('Two', { website: 'x' }),
    comment(''),
    comment('x'.repeat(2_001)),
    '{',
    '',
    'x'.repeat(20_000),
  ]) {
    await send('POST', '/api/comments', body);
  }
  await send('POST', '/api/comments', comment('Text'), { 'content-type': 'text/plain' });
  await send('POST', '/api/comments', comment('Text'), { 'idempotency-key': 'ü' });
  const added = await site.ask.post(
    '/api/comments',
    { productId: id, content: 'To like' },
    { 'x-user-session': SESSION },
  );
  for (const commentId of [added.json<AddedComment>().comment?.id ?? '', 'none', '%20']) {
    await send('POST', `/api/comments/${commentId}/like`);
  }
  // Sends the requests simultaneously, because the limit refills by two requests each second.
  await Promise.all(Array.from({ length: 150 }, () => send('PUT', `/api/products/${id}/upvote`)));
  expect(responses.join('\n')).toContain('rate_limited');

  // Makes the following requests fail. The error of the constraint contains the values of the refused row.
  await site.database.query('ALTER TABLE upvotes RENAME TO upvotes_away');
  await site.database.query('ALTER TABLE comments ADD CONSTRAINT nobody CHECK (content IS NULL) NOT VALID');
  await site.ask.post('/api/comments', { productId: id, content: 'Refused' }, { 'x-user-session': `${SESSION}-b` });
  await site.ask.put(`/api/products/${id}/upvote`, { 'x-user-session': `${SESSION}-b` });
  await site.ask.get(`/api/upvotes?products=${id}`, { 'x-user-session': `${SESSION}-b` });
  expect(lines().filter(({ level }) => level === 50).length).toBeGreaterThanOrEqual(3);

  for (const secret of [SESSION, BAD_SESSION, ...ADDRESSES]) {
    expect(logText()).not.toContain(secret);
    expect(responses.filter((response) => response.includes(secret))).toEqual([]);
  }
});
