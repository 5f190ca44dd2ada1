import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AddedComment, Comment, CommentPage } from '../../src/contract/comments/schema.ts';
import type { ProductDetail } from '../../src/contract/products/schema.ts';
import { forgetOldKeys } from '../../src/core/comments/idempotency-keys.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { BAD_SESSIONS, GOOD_SESSIONS } from '../support/sessions.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const clock = createTestClock();
let site: TestSite;
/** A second process of the same site, as far as the database can tell. */
let other: TestSite;
let productId: string;

beforeAll(async () => {
  site = await startTestSite({ sources: clock });
  other = await startTestSite({ sources: clock, beside: site });
});

beforeEach(async () => {
  productId = (await site.addProduct({ id: `p-${randomUUID()}` })).id;
});

afterAll(async () => {
  await other.close();
  await site.close();
});

const post = (body: unknown, headers: Record<string, string> = newVisitor()) =>
  site.ask.post('/api/comments', body, headers);
const list = (query = '', id = productId) => site.ask.json<CommentPage>(`/api/products/${id}/comments${query}`);
const total = async () => (await site.ask.json<ProductDetail>(`/api/products/${productId}`)).product.comments;

async function add(content: string): Promise<Comment> {
  const response = await post({ productId, content });
  expect(response.statusCode, response.body).toBe(201);
  return response.json<AddedComment>().comment;
}

async function setLikes(id: string, likes: number) {
  await site.database.query('UPDATE comments SET likes = $2 WHERE id = $1::uuid', [id, likes]);
}

describe('POST /api/comments (api.md, Endpoints; SPEC sections 4 to 6)', () => {
  test('201 with the comment: by You, with the default avatar, no badge and no like', async () => {
    const response = await post({ productId, content: 'A fine wave.' });
    expect(response.statusCode).toBe(201);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.json()).toEqual({
      comment: {
        id: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        productId,
        authorName: 'You',
        authorAvatar: '/pictures/avatar-default.svg',
        authorBadge: null,
        content: 'A fine wave.',
        likes: 0,
        createdAt: clock.now().toISOString(),
      },
    });
  });

  test('what was acknowledged is in the list and in both counts, in this process and the other', async () => {
    const comment = await add('Here');
    expect(await list()).toEqual({ items: [comment], total: 1, nextCursor: null });
    expect(await other.ask.json(`/api/products/${productId}/comments`)).toEqual({
      items: [comment],
      total: 1,
      nextCursor: null,
    });
    expect(await total()).toBe(1);
  });

  test('the text is trimmed, and otherwise kept verbatim', async () => {
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
  ])("%s: 400 'Product ID and content are required' (SPEC section 5)", async (_what, body) => {
    expectProblem(await post(body), 400, 'comment_incomplete', 'Product ID and content are required');
  });

  test('2,000 characters are kept, 2,001 are 422: counted as a person counts them, after trimming', async () => {
    const longest = '🌊'.repeat(2_000);
    expect((await add(`  ${longest}\n`)).content).toBe(longest);
    expectProblem(await post({ productId, content: `${longest}x` }), 422, 'comment_too_long', /2,?000/);
    expect(await total()).toBe(1);
  });

  test.each(['nobody', "x' OR '1'='1", '$1', 'X', 'x'.repeat(65), '../x', '__proto__', ' '])(
    "the unknown product '%s' is 404 Product not found",
    async (id) => {
      expectProblem(await post({ productId: id, content: 'x' }), 404, 'product_not_found', 'Product not found');
    },
  );

  test.each(BAD_SESSIONS)('a session that is %s is 400, and nothing is written', async (_what, headers) => {
    expectProblem(await post({ productId, content: 'x' }, headers), 400, 'session_required');
    expect(await total()).toBe(0);
  });

  test.each(GOOD_SESSIONS)('a session that is %s may comment (SPEC section 3)', async (_what, headers) => {
    expect((await post({ productId, content: 'x' }, headers)).statusCode).toBe(201);
  });

  test.each([
    ['NUL', '"a\\u0000b"'],
    ['a lone high surrogate', '"a\\ud83cb"'],
    ['a lone low surrogate', '"\\udf0a"'],
    ['surrogates in the wrong order', '"\\udf0a\\ud83c"'],
  ])('%s, which cannot be stored, is 400 and not repaired', async (_what, content) => {
    expectProblem(await post(`{"productId":"${productId}","content":${content}}`), 400, 'bad_request', /characters/);
    expect(await total()).toBe(0);
  });

  test('a pair of escaped surrogates is the character that it stands for', async () => {
    const response = await post(`{"productId":"${productId}","content":"\\ud83c\\udf0a"}`);
    expect(response.json<AddedComment>().comment.content).toBe('🌊');
  });

  test.each([
    ['a byte that is no UTF-8', Buffer.from([0xff])],
    ['a character cut short', Buffer.from([0xe2, 0x82])],
    ['an overlong NUL', Buffer.from([0xc0, 0x80])],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['Latin-1', Buffer.from('é', 'latin1')],
  ])('%s in the body is 400 and not repaired', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from(`{"productId":"${productId}","content":"`), bytes, Buffer.from('"}')]);
    expectProblem(await post(body), 400, 'bad_request', 'The body is not valid UTF-8');
    expect(await total()).toBe(0);
  });

  test.each([
    ['malformed', '{'],
    ['cut short', '{"productId":"x","content":"x"'],
    ['with a comment', '{"productId":"x","content":"x"} // x'],
    ['a form', 'productId=x&content=x'],
    ['with a key of every object’s prototype', '{"productId":"x","content":"x","__proto__":{"admin":true}}'],
    ['with a constructor’s prototype', '{"productId":"x","content":"x","constructor":{"prototype":{"admin":true}}}'],
  ])('a body that is %s is 400', async (_what, body) => {
    expectProblem(await post(body), 400, 'bad_request', 'The body is not valid JSON');
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  test('fields that a visitor does not decide are passed over', async () => {
    const forged = { authorName: 'Admin', authorBadge: 'Maker', authorAvatar: '/x.png', likes: 99, id: randomUUID() };
    const response = await post({ productId, content: 'x', ...forged });
    expect(response.json<AddedComment>().comment).toMatchObject({ authorName: 'You', authorBadge: null, likes: 0 });
    expect(response.json<AddedComment>().comment.id).not.toBe(forged.id);
  });

  test('16 KiB of body are taken, one byte more is 413', async () => {
    const frame = JSON.stringify({ productId, content: 'x', padding: '' });
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
  ])('a body of type %s is 415', async (type) => {
    const answer = await post(JSON.stringify({ productId, content: 'x' }), { ...newVisitor(), 'content-type': type });
    expectProblem(answer, 415, 'unsupported_media_type');
  });

  test('application/json with a charset is JSON', async () => {
    const headers = { ...newVisitor(), 'content-type': 'application/json; charset=utf-8' };
    expect((await post({ productId, content: 'x' }, headers)).statusCode).toBe(201);
  });

  test('100 at once, through two processes: 100 comments, and the count is that of the rows', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? site : other).ask.post('/api/comments', { productId, content: `${index}` }, newVisitor()),
      ),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(100);
    expect(await total()).toBe(100);
    const { items } = await list('?limit=100');
    expect(new Set(items.map(({ content }) => content)).size).toBe(100);
  });
});

describe('Idempotency-Key (api.md: the same key from the same session within 24 h makes one comment)', () => {
  const draft = (content = 'Once') => ({ productId, content });

  test('sent again it is 200 with the first comment, whatever the body is by then', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const first = await post(draft(), headers);
    const second = await post(draft(), headers);
    const third = await other.ask.post('/api/comments', draft('Edited meanwhile'), headers);
    expect([first.statusCode, second.statusCode, third.statusCode]).toEqual([201, 200, 200]);
    expect([second.json(), third.json()]).toEqual([first.json(), first.json()]);
    expect(await total()).toBe(1);
  });

  test('20 times at once, through two processes: one comment, created once, and every answer names it', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? site : other).ask.post('/api/comments', draft(), headers),
      ),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(answers.map((answer) => answer.json<AddedComment>().comment.id)).size).toBe(1);
    expect(await total()).toBe(1);
    expect((await list()).items).toHaveLength(1);
  });

  test('a like in between shows in the answer to the second sending', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const { comment } = (await post(draft(), headers)).json<AddedComment>();
    await setLikes(comment.id, 3);
    expect((await post(draft(), headers)).json()).toEqual({ comment: { ...comment, likes: 3 } });
  });

  test('the same key of another session, and another key of the same session, are other drafts', async () => {
    const visitor = newVisitor();
    const key = randomUUID();
    for (const headers of [
      { ...visitor, 'idempotency-key': key },
      { ...newVisitor(), 'idempotency-key': key },
      { ...visitor, 'idempotency-key': `${key}2` },
    ]) {
      expect((await post(draft(), headers)).statusCode).toBe(201);
    }
    expect(await total()).toBe(3);
  });

  test('after 24 hours the key is free again', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    await post(draft(), headers);
    clock.advance({ hours: 24 });
    expect((await post(draft(), headers)).statusCode).toBe(200);
    clock.advance({ milliseconds: 1 });
    expect((await post(draft(), headers)).statusCode).toBe(201);
    expect((await post(draft(), headers)).statusCode).toBe(200);
    expect(await total()).toBe(2);
  });

  test('housekeeping forgets old keys and keeps young ones', async () => {
    const [old, young] = [randomUUID(), randomUUID()].map((key) => ({ ...newVisitor(), 'idempotency-key': key }));
    await post(draft(), old);
    clock.advance({ hours: 24, milliseconds: 1 });
    await post(draft(), young);
    await forgetOldKeys(site.database, clock.now());
    expect((await post(draft(), old)).statusCode).toBe(201);
    expect((await post(draft(), young)).statusCode).toBe(200);
  });

  test('a refused comment does not use its key up', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    expect((await post({ productId: 'nobody', content: 'x' }, headers)).statusCode).toBe(404);
    expect((await post({ productId, content: 'x'.repeat(2_001) }, headers)).statusCode).toBe(422);
    expect((await post(draft(), headers)).statusCode).toBe(201);
  });

  test.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['201 characters long', 'k'.repeat(201)],
    ['not ASCII', 'é'],
  ])('a key that is %s is 400, and nothing is written', async (_what, key) => {
    const answer = await post(draft(), { ...newVisitor(), 'idempotency-key': key });
    expectProblem(answer, 400, 'idempotency_key_invalid');
    expect(await total()).toBe(0);
  });

  test('a key of 200 characters is one', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': '~'.repeat(200) };
    expect([(await post(draft(), headers)).statusCode, (await post(draft(), headers)).statusCode]).toEqual([201, 200]);
  });
});

describe('GET /api/products/:id/comments (api.md, Endpoints; SPEC section 2, Comments section)', () => {
  test('a product without comments has an empty list', async () => {
    expect(await list()).toEqual({ items: [], total: 0, nextCursor: null });
  });

  test('best (the default): most likes first, then newest; newest; oldest', async () => {
    const made: Comment[] = [];
    for (const content of ['1', '2', '3', '4']) {
      made.push(await add(content));
      clock.advance({ milliseconds: 1 });
    }
    const [one, , three] = made;
    await setLikes(one?.id ?? '', 5);
    await setLikes(three?.id ?? '', 5);
    const order = async (query: string) => (await list(query)).items.map(({ content }) => content).join('');
    expect(await order('')).toBe('3142');
    expect(await order('?sort=best')).toBe('3142');
    expect(await order('?sort=newest')).toBe('4321');
    expect(await order('?sort=oldest')).toBe('1234');
  });

  test.each(['best', 'newest', 'oldest'])(
    'sort=%s: all pages together are every comment exactly once, also among equals, and total counts them all',
    async (sort) => {
      // The clock stands still, so that only likes and ids tell them apart.
      const made = await Promise.all(Array.from({ length: 31 }, (_, index) => add(`${index}`)));
      for (const [index, { id }] of made.entries()) await setLikes(id, index % 3);
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: CommentPage = await list(`?sort=${sort}&limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`);
        expect(page.total).toBe(31);
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      expect([...seen].sort()).toEqual(made.map(({ id }) => id).sort());
      const whole = await list(`?sort=${sort}&limit=100`);
      expect(seen).toEqual(whole.items.map(({ id }) => id));
    },
  );

  test('30 a page by default, 100 at most', async () => {
    await Promise.all(Array.from({ length: 31 }, (_, index) => add(`${index}`)));
    expect((await list()).items).toHaveLength(30);
    expect((await list('?limit=100')).items).toHaveLength(31);
  });

  test('comments of another product are not among them', async () => {
    await add('Here');
    const elsewhere = await site.addProduct({ id: `p-${randomUUID()}` });
    expect(await list('', elsewhere.id)).toEqual({ items: [], total: 0, nextCursor: null });
  });

  test.each(['0', '101', '-1', 'x', '1.5'])('limit=%s is 400 and says which parameter', async (limit) => {
    expectProblem(
      await site.ask.get(`/api/products/${productId}/comments?limit=${limit}`),
      400,
      'bad_request',
      /limit/,
    );
  });

  test.each(['top', 'BEST', ''])('sort=%s is 400 and says what there is', async (sort) => {
    const answer = await site.ask.get(`/api/products/${productId}/comments?sort=${sort}`);
    expectProblem(answer, 400, 'bad_request', /best.*newest.*oldest/);
  });

  test('a cursor that is forged, of another sort, of the other list or truncated is 400 bad_cursor', async () => {
    await Promise.all(['a', 'b'].map(add));
    await site.addProduct();
    const own = (await list('?sort=best&limit=1')).nextCursor ?? '';
    const products = await site.ask.json<{ nextCursor: string }>('/api/products?limit=1');
    for (const cursor of ['forged', own.slice(0, -6), own, products.nextCursor]) {
      const answer = await site.ask.get(`/api/products/${productId}/comments?sort=newest&cursor=${cursor}`);
      expectProblem(answer, 400, 'bad_cursor');
    }
  });

  test.each(['nobody', 'X', '%00', 'x'.repeat(65), "'%20OR%20'1'='1", ''])(
    "of the unknown product '%s': 404 Product not found",
    async (id) => {
      const answer = await site.ask.get(`/api/products/${id}/comments`);
      expectProblem(answer, 404, 'product_not_found', 'Product not found');
    },
  );

  test('imported authors keep their name, avatar and badge; where nothing is given they are Anonymous', async () => {
    await site.database.query("INSERT INTO comments (id, product_id, content) VALUES ($1::uuid, $2, 'x')", [
      randomUUID(),
      productId,
    ]);
    expect((await list()).items[0]).toMatchObject({
      authorName: 'Anonymous',
      authorAvatar: '/pictures/avatar-default.svg',
      authorBadge: null,
      likes: 0,
    });
  });
});
