import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { startDiscussedSite } from '../support/discussed-site.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { BAD_SESSIONS, GOOD_SESSIONS } from '../support/sessions.ts';

const on = startDiscussedSite();
const { clock, post, list, total, add } = on;

describe('POST /api/comments (api.md, Comments; SPEC sections 4 to 6)', () => {
  test('returns 201 with the comment, by You, with the default avatar, no badge and no likes', async () => {
    const response = await post({ productId: on.productId, content: 'A fine wave.' });
    expect(response.statusCode).toBe(201);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.json()).toEqual({
      comment: {
        id: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        productId: on.productId,
        authorName: 'You',
        authorAvatar: '/pictures/avatar-default.svg',
        authorBadge: null,
        content: 'A fine wave.',
        likes: 0,
        createdAt: clock.now().toISOString(),
      },
    });
  });

  test('if submissions are disabled, a bearer token does not change the author', async () => {
    const headers = { ...newVisitor(), authorization: `Bearer maker-${randomUUID()}` };
    const response = await post({ productId: on.productId, content: 'Mine' }, headers);
    expect(response.statusCode).toBe(201);
    expect(response.json().comment).toMatchObject({ authorName: 'You', authorBadge: null });
  });

  test('an acknowledged comment is in the list and in both counts, in this process and in another one', async () => {
    const comment = await add('Here');
    expect(await list()).toEqual({ items: [comment], total: 1, nextCursor: null });
    expect(await on.other.ask.json(`/api/products/${on.productId}/comments`)).toEqual({
      items: [comment],
      total: 1,
      nextCursor: null,
    });
    expect(await total()).toBe(1);
  });

  test('the text is trimmed, and otherwise stored unchanged', async () => {
    const text =
      'Wow 🌊👩‍👩‍👧‍👦\r\n\n\ttwo  spaces — שָׁלוֹם عليكم e\u0301 é \u202E \u200B ﬁ <script>alert(1)</script> &amp; \\ \' " %';
    expect((await add(` \n\t${text}\u00A0\u2003 `)).content).toBe(text);
    expect((await list()).items[0]?.content).toBe(text);
  });

  test.each([
    ['no content', { productId: 'x' }],
    ['no product id', { content: 'x' }],
    ['neither', {}],
    ['empty content', { productId: 'x', content: '' }],
    ['content of whitespace alone', { productId: 'x', content: ' \n\t\u00A0\u2003\uFEFF' }],
    ['an empty product id', { productId: '', content: 'x' }],
    ['null', { productId: null, content: null }],
    ['a number as content', { productId: 'x', content: 7 }],
    ['a list as content', { productId: 'x', content: ['x'] }],
    ['an object as product id', { productId: { id: 'x' }, content: 'x' }],
    ['true as content', { productId: 'x', content: true }],
    ['a list as the body', ['x']],
    ['a text as the body', '"x"'],
    ['null as the body', 'null'],
    ['a number as the body', '7'],
    ['no body', undefined],
  ])("%s is rejected with 400 'Product ID and content are required' (SPEC section 5)", async (_what, body) => {
    expectProblem(await post(body), 400, 'comment_incomplete', 'Product ID and content are required');
  });

  test('after trimming, 2,000 characters are accepted and 2,001 are rejected with 422, counted as code points', async () => {
    const longest = '🌊'.repeat(2_000);
    expect((await add(`  ${longest}\n`)).content).toBe(longest);
    expectProblem(await post({ productId: on.productId, content: `${longest}x` }), 422, 'comment_too_long', /2,?000/);
    expect(await total()).toBe(1);
  });

  test.each(['nobody', "x' OR '1'='1", '$1', 'X', 'x'.repeat(65), '../x', '__proto__', ' '])(
    "the unknown product '%s' returns 404 Product not found",
    async (id) => {
      expectProblem(await post({ productId: id, content: 'x' }), 404, 'product_not_found', 'Product not found');
    },
  );

  test.each(BAD_SESSIONS)('a session that is %s is rejected with 400 and adds no comment', async (_what, headers) => {
    expectProblem(await post({ productId: on.productId, content: 'x' }, headers), 400, 'session_required');
    expect(await total()).toBe(0);
  });

  test.each(GOOD_SESSIONS)('a session that is %s may comment (SPEC section 3)', async (_what, headers) => {
    expect((await post({ productId: on.productId, content: 'x' }, headers)).statusCode).toBe(201);
  });

  test.each([
    ['NUL', '"a\\u0000b"'],
    ['a lone high surrogate', '"a\\ud83cb"'],
    ['a lone low surrogate', '"\\udf0a"'],
    ['surrogates in the wrong order', '"\\udf0a\\ud83c"'],
  ])('text with %s, which cannot be stored, is rejected with 400 and is not repaired', async (_what, content) => {
    expectProblem(await post(`{"productId":"${on.productId}","content":${content}}`), 400, 'bad_request', /characters/);
    expect(await total()).toBe(0);
  });

  test('an escaped surrogate pair becomes its character', async () => {
    const response = await post(`{"productId":"${on.productId}","content":"\\ud83c\\udf0a"}`);
    expect(response.json<AddedComment>().comment.content).toBe('🌊');
  });

  test.each([
    ['a byte that is invalid in UTF-8', Buffer.from([0xff])],
    ['a truncated character', Buffer.from([0xe2, 0x82])],
    ['an overlong NUL', Buffer.from([0xc0, 0x80])],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['Latin-1', Buffer.from('é', 'latin1')],
  ])('%s in the body is rejected with 400 and is not repaired', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from(`{"productId":"${on.productId}","content":"`), bytes, Buffer.from('"}')]);
    expectProblem(await post(body), 400, 'bad_request', 'The body is not valid UTF-8.');
    expect(await total()).toBe(0);
  });

  test.each([
    ['malformed', '{'],
    ['truncated', '{"productId":"x","content":"x"'],
    ['JSON with a comment', '{"productId":"x","content":"x"} // x'],
    ['a form', 'productId=x&content=x'],
    ['JSON with the key __proto__', '{"productId":"x","content":"x","__proto__":{"admin":true}}'],
    ['JSON with the key constructor', '{"productId":"x","content":"x","constructor":{"prototype":{"admin":true}}}'],
  ])('a body that is %s is rejected with 400', async (_what, body) => {
    expectProblem(await post(body), 400, 'bad_request', 'The body is not valid JSON.');
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  test('fields that a visitor cannot set are ignored', async () => {
    const forged = { authorName: 'Admin', authorBadge: 'Maker', authorAvatar: '/x.png', likes: 99, id: randomUUID() };
    const response = await post({ productId: on.productId, content: 'x', ...forged });
    expect(response.json<AddedComment>().comment).toMatchObject({ authorName: 'You', authorBadge: null, likes: 0 });
    expect(response.json<AddedComment>().comment.id).not.toBe(forged.id);
  });

  test('a body of 16 KiB is accepted, and one more byte is rejected with 413', async () => {
    const frame = JSON.stringify({ productId: on.productId, content: 'x', padding: '' });
    const fill = (bytes: number) => frame.replace('"padding":""', `"padding":"${'p'.repeat(bytes - frame.length)}"`);
    expect((await post(fill(16_384))).statusCode).toBe(201);
    expectProblem(await post(fill(16_385)), 413, 'body_too_large', /16 KiB/);
    expect(await total()).toBe(1);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
  ])('a body of type %s is rejected with 415', async (type) => {
    const response = await post(JSON.stringify({ productId: on.productId, content: 'x' }), {
      ...newVisitor(),
      'content-type': type,
    });
    expectProblem(response, 415, 'unsupported_media_type');
  });

  test('application/json with a charset is JSON', async () => {
    const headers = { ...newVisitor(), 'content-type': 'application/json; charset=utf-8' };
    expect((await post({ productId: on.productId, content: 'x' }, headers)).statusCode).toBe(201);
  });

  test.each([
    ['in another charset', { 'content-type': 'application/json; charset=latin1' }],
    ['compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('JSON %s is rejected with 415, with the accepted media type', async (_how, headers) => {
    const response = await post(JSON.stringify({ productId: on.productId, content: 'x' }), {
      ...newVisitor(),
      ...headers,
    });
    expectProblem(response, 415, 'unsupported_media_type', /in UTF-8, not compressed/);
  });

  test('100 simultaneous requests to two processes add 100 comments, and the count matches the rows', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? on.site : on.other).ask.post(
          '/api/comments',
          { productId: on.productId, content: `${index}` },
          newVisitor(),
        ),
      ),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 201)).toHaveLength(100);
    expect(await total()).toBe(100);
    const { items } = await list('?limit=100');
    expect(new Set(items.map(({ content }) => content)).size).toBe(100);
  });
});
