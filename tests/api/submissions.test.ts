import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedSubmission, Submission } from '../../src/contract/submissions/schema.ts';
import { approveSubmission, undoDecision } from '../../src/core/submissions/decide-submission.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const clock = createTestClock();
let site: TestSite;
beforeAll(async () => {
  site = await startTestSite({ runtime: clock, submittedPictures: instantPictures() });
});
afterAll(() => site.close());

const post = (body: unknown, headers: Record<string, string> = newVisitor()) =>
  site.ask.post('/api/submissions', body, headers);

async function submit(body: object = { name: 'Tide' }, headers?: Record<string, string>): Promise<CreatedSubmission> {
  const response = await post(body, headers);
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}

const bearer = (makerKey: string) => ({ authorization: `Bearer ${makerKey}` });
const send = (method: 'GET' | 'PATCH' | 'DELETE' | 'PUT' | 'POST', url: string, makerKey: string, body?: unknown) =>
  site.app.inject({
    method,
    url,
    headers: { ...bearer(makerKey), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
const approve = (id: string) => approveSubmission(site.database, { id }, { now: clock.now(), timeZone: 'UTC' });

describe('POST /api/submissions', () => {
  test('returns 201 with the waiting submission and the maker key', async () => {
    const response = await post({
      name: ' Tide tables ',
      description: 'When to launch.',
      tags: ['Sea', 'Sea', ' '],
      category: 'Weather',
      maker: 'Ada',
      team: [{ name: 'Ada', role: 'Captain' }],
      launchAt: '2026-06-02T09:00:00+02:00',
      image: 'https://evil.example/pixel.gif',
    });
    expect(response.statusCode).toBe(201);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.json()).toEqual({
      makerKey: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      submission: {
        id: 'tide-tables',
        status: 'waiting',
        reason: null,
        editable: true,
        revision: 1,
        productVersion: null,
        launchAt: '2026-06-02T07:00:00.000Z',
        product: {
          ...buildProduct({
            id: 'tide-tables',
            name: 'Tide tables',
            description: 'When to launch.',
            image: '/pictures/placeholder.svg',
            tags: ['Sea'],
            category: 'Weather',
            maker: 'Ada',
            launchDate: 'June 2, 2026',
            team: [{ name: 'Ada', avatar: '/pictures/avatar-default.svg', role: 'Captain' }],
            createdAt: '2026-06-02T07:00:00.000Z',
          }),
          upvotes: 0,
          comments: 0,
        },
        standing: null,
        votesByHour: [],
        createdAt: clock.now().toISOString(),
        updatedAt: clock.now().toISOString(),
      },
    });
    expectProblem(await site.ask.get('/api/products/tide-tables'), 404, 'product_not_found', 'Product not found');
  });

  test('gives the maker a key that reads the submission, but a wrong key, no key and an unknown id get the same 404', async () => {
    const { submission, makerKey } = await submit({ name: 'Ebb' });
    const read = (id: string, authorization?: string) =>
      site.ask.get(`/api/submissions/${id}`, authorization === undefined ? {} : { authorization });
    const response = await read('ebb', `Bearer ${makerKey}`);
    expect(response.json<{ submission: Submission }>()).toEqual({ submission });
    expect(response.headers['cache-control']).toBe('no-store');
    const other = await submit({ name: 'Flow' });
    for (const refused of [
      await read('ebb'),
      await read('ebb', `Bearer ${other.makerKey}`),
      await read('ebb', `Basic ${makerKey}`),
      await read('ebb', makerKey),
      await read('nothing', `Bearer ${makerKey}`),
      await read('%00', `Bearer ${makerKey}`),
    ]) {
      expectProblem(refused, 404, 'submission_not_found', 'Submission not found');
    }
  });

  test.each([
    ['a list', []],
    ['a text', '"name"'],
    ['null', 'null'],
  ])('returns 400 for %s as the body', async (_what, body) => {
    expectProblem(await post(body), 400, 'bad_request', 'The body must be a JSON object.');
  });

  test('accepts fields of the maximum length, even with multi-byte characters', async () => {
    const longest = {
      name: '🌊'.repeat(300),
      description: '🌊'.repeat(10_000),
      category: '🌊'.repeat(300),
      maker: '🌊'.repeat(300),
      tags: Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(2, '.') + '🌊'.repeat(58)),
      team: Array.from({ length: 50 }, () => ({ name: '🌊'.repeat(300), role: '🌊'.repeat(300) })),
    };
    const { submission, makerKey } = await submit(longest);
    expect(submission.product).toMatchObject({ name: longest.name, description: longest.description });
    const edited = await send('PATCH', `/api/submissions/${submission.id}`, makerKey, longest);
    expect(edited.statusCode).toBe(200);
  });

  test.each([
    ['no name', {}, 'name'],
    ['a number as name', { name: 7 }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a NUL in the name', { name: 'a\0' }, 'name'],
    ['a text as tags', { name: 'x', tags: 'Sea' }, 'tags'],
    ['a number among the tags', { name: 'x', tags: [7] }, 'tags'],
    ['members without names', { name: 'x', team: [{ role: 'Captain' }] }, 'team'],
    ['a number as launch time', { name: 'x', launchAt: 7 }, 'launchAt'],
    ['a long text as launch time', { name: 'x', launchAt: 'T1'.repeat(120_000) }, 'launchAt'],
    [
      'a launch time after a hundred spaces',
      { name: 'x', launchAt: `${' '.repeat(100)}2100-01-01T00:00Z` },
      'launchAt',
    ],
  ])('returns 422 for %s, with the name of the field', async (_what, body, field) => {
    const response = await post(body);
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({
      code: 'submission_invalid',
      errors: [{ field, detail: expect.stringMatching(/^[A-Z].*\.$/) }],
    });
  });

  test('refuses a missing session, an invalid idempotency key, and a body that is too large or not JSON', async () => {
    expectProblem(await post({ name: 'x' }, {}), 400, 'session_required');
    expectProblem(
      await post({ name: 'x' }, { ...newVisitor(), 'idempotency-key': 'a b' }),
      400,
      'idempotency_key_invalid',
    );
    expectProblem(await post({ name: 'x', description: 'x'.repeat(256 * 1024) }), 413, 'body_too_large', /256 KiB/);
    expectProblem(
      await post('name=x', { ...newVisitor(), 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    );
    expectProblem(await site.ask.get('/api/submissions'), 405, 'method_not_allowed');
  });

  test('returns 200 with the same submission if it is repeated with the same idempotency key', async () => {
    const visitor = { ...newVisitor(), 'idempotency-key': 'draft-1' };
    const first = await submit({ name: 'Once' }, visitor);
    const repeat = await post({ name: 'Once' }, visitor);
    expect([repeat.statusCode, repeat.json().submission]).toEqual([200, first.submission]);
    expectProblem(await post({ name: 'Twice' }, visitor), 422, 'idempotency_key_reused');
  });
});

describe('The maker', () => {
  test('can edit, reschedule and withdraw a submission', async () => {
    const { submission, makerKey } = await submit({ name: 'Reef' });
    const url = `/api/submissions/${submission.id}`;
    const edited = await send('PATCH', url, makerKey, { description: 'Corals', revision: 1 });
    expect(edited.json()).toMatchObject({ submission: { revision: 2, product: { description: 'Corals' } } });
    expectProblem(await send('PATCH', url, makerKey, { name: 'x', revision: 1 }), 409, 'submission_changed');
    expect((await send('PATCH', url, makerKey, { launchAt: 'soon' })).json()).toMatchObject({
      errors: [{ field: 'launchAt' }],
    });
    expect((await send('DELETE', url, makerKey)).json()).toMatchObject({ submission: { status: 'withdrawn' } });
    expectProblem(await send('PATCH', url, makerKey, { name: 'x' }), 409, 'submission_withdrawn');
  });

  test('can send pictures as bytes, which are refused without the key', async () => {
    const { submission, makerKey } = await submit({ name: 'Lagoon' });
    const url = `/api/submissions/${submission.id}`;
    const picture = (method: 'PUT' | 'POST', path: string, key: string, type = 'image/png') =>
      site.app.inject({
        method,
        url: `${url}${path}`,
        headers: { ...bearer(key), 'content-type': type },
        payload: Buffer.from(path),
      });
    expect((await picture('PUT', '/image', makerKey)).json().submission.product.image).toMatch(/^\/images\/.*\.webp$/);
    const added = (await picture('POST', '/screenshots', makerKey)).json().submission;
    expect(added.product.screenshots).toHaveLength(1);
    expectProblem(await picture('PUT', '/image', makerKey, 'image/svg+xml'), 415, 'unsupported_media_type');
    expectProblem(await picture('PUT', '/image', 'x'.repeat(43)), 404, 'submission_not_found');
    expectProblem(await send('DELETE', `${url}/screenshots/1`, makerKey), 404, 'screenshot_not_found');
    expectProblem(await send('DELETE', `${url}/screenshots/-0`, makerKey), 404, 'screenshot_not_found');
    expect((await send('DELETE', `${url}/screenshots/0`, makerKey)).json().submission.product.screenshots).toEqual([]);
  });

  test('can see the standing, the current counts and the counted votes by hour after the launch', async () => {
    const { submission, makerKey } = await submit({ name: 'Watched' });
    await approve(submission.id);
    const url = `/api/submissions/${submission.id}`;
    await site.ask.put(`/api/products/${submission.id}/upvote`, newVisitor());
    clock.advance({ hours: 2 });
    await site.ask.put(`/api/products/${submission.id}/upvote`, newVisitor());
    const read = async () => (await send('GET', url, makerKey)).json<{ submission: Submission }>().submission;
    // There is no standing while the board updater takes more than a second to place the launch.
    const standing = { day: { rank: expect.any(Number) } };
    await expect.poll(read).toMatchObject({ status: 'launched', product: { upvotes: 2 }, standing });
    expect((await read()).votesByHour.map(({ votes }) => votes)).toEqual([1, 0, 1]);
    clock.advance({ hours: 30 });
    expect((await read()).votesByHour).toHaveLength(24);
    expectProblem(await send('DELETE', url, makerKey), 409, 'already_launched');
  });

  test('can comment with the badge Maker, but only on their own product and only after its launch', async () => {
    const { submission, makerKey } = await submit({ name: 'Spoken', maker: 'Ada' });
    await site.addProduct({ id: 'of-others', createdAt: clock.now().toISOString() });
    const comment = (productId: string, headers: Record<string, string>) =>
      site.ask.post('/api/comments', { productId, content: 'Ask me anything' }, { ...newVisitor(), ...headers });
    expectProblem(await comment(submission.id, bearer(makerKey)), 404, 'product_not_found');
    await approve(submission.id);
    expect((await comment(submission.id, bearer(makerKey))).json()).toMatchObject({
      comment: { authorName: 'Ada', authorBadge: 'Maker', authorAvatar: '/pictures/avatar-default.svg' },
    });
    expect((await comment(submission.id, {})).json()).toMatchObject({
      comment: { authorName: 'You', authorBadge: null },
    });
    expectProblem(await comment('of-others', bearer(makerKey)), 404, 'submission_not_found');
    expectProblem(await comment(submission.id, bearer('x'.repeat(43))), 404, 'submission_not_found');
    expectProblem(await comment(submission.id, { authorization: makerKey }), 404, 'submission_not_found');
  });

  test('comments without the badge on another product with the id of the submission', async () => {
    const { submission, makerKey } = await submit({ name: 'Replaced' });
    await site.addProduct({ id: submission.id, createdAt: clock.now().toISOString() });
    const body = { productId: submission.id, content: 'That was my name' };
    const response = await site.ask.post('/api/comments', body, { ...newVisitor(), ...bearer(makerKey) });
    expect(response.json()).toMatchObject({ comment: { authorName: 'You', authorBadge: null } });
  });

  test('is not identified by basic credentials, so visitors behind a proxy with a password can comment', async () => {
    await site.addProduct({ id: 'behind-a-proxy', createdAt: clock.now().toISOString() });
    const body = { productId: 'behind-a-proxy', content: 'I know the password' };
    const response = await site.ask.post('/api/comments', body, { ...newVisitor(), authorization: 'Basic YTpi' });
    expect(response.json()).toMatchObject({ comment: { authorName: 'You', authorBadge: null } });
  });
});

test('a product that is approved from another process appears in the cached list, and disappears after an undo', async () => {
  const here = await startTestSite({ cacheEnabled: true, submittedPictures: instantPictures() });
  try {
    await here.addProduct({ id: 'before' });
    const ids = async () =>
      (await here.ask.json<{ items: { id: string }[] }>('/api/products')).items.map(({ id }) => id);
    const response = await here.ask.post('/api/submissions', { name: 'Live' }, newVisitor());
    const { submission } = response.json<CreatedSubmission>();
    expect(await ids()).toEqual(['before']);
    await approveSubmission(here.database, { id: submission.id }, { now: new Date(), timeZone: 'UTC' });
    await expect.poll(ids).toEqual(['live', 'before']);
    await undoDecision(here.database, { id: submission.id }, { now: new Date(), timeZone: 'UTC' });
    await expect.poll(ids).toEqual(['before']);
  } finally {
    await here.close();
  }
});

test('pages of other origins cannot send maker keys', async () => {
  const preflight = await site.app.inject({
    method: 'OPTIONS',
    url: '/api/submissions/tide-tables',
    headers: {
      origin: 'https://evil.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  });
  expect(preflight.headers['access-control-allow-headers']).not.toMatch(/authorization/i);
  for (const method of ['PATCH', 'DELETE']) {
    const refused = await site.app.inject({
      method: 'OPTIONS',
      url: '/api/submissions/tide-tables',
      headers: { origin: 'https://evil.example', 'access-control-request-method': method },
    });
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([405, undefined]);
  }
});
