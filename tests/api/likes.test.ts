import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AddedComment, CommentPage, Likes } from '../../src/contract/comments/schema.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { BAD_SESSIONS, GOOD_SESSIONS } from '../support/sessions.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
/** A second site on the same database, which acts like another process. */
let other: TestSite;
let productId: string;
let commentId: string;

beforeAll(async () => {
  site = await startTestSite();
  other = await startTestSite({ databaseOf: site });
});

beforeEach(async () => {
  productId = (await site.addProduct({ id: `p-${randomUUID()}` })).id;
  const added = await site.ask.post('/api/comments', { productId, content: 'Like me' }, newVisitor());
  commentId = added.json<AddedComment>().comment.id;
});

afterAll(async () => {
  await other.close();
  await site.close();
});

const like = (id = commentId, headers: Record<string, string> = newVisitor(), { ask } = site) =>
  ask.post(`/api/comments/${id}/like`, undefined, headers);
const shown = async () =>
  (await site.ask.json<CommentPage>(`/api/products/${productId}/comments`)).items.map(({ likes }) => likes);

describe('POST /api/comments/:id/like (api.md, Comments; SPEC section 4)', () => {
  test('every request adds one, even from the same session', async () => {
    const visitor = newVisitor();
    for (const likes of [1, 2, 3]) {
      const response = await like(commentId, visitor);
      expect([response.statusCode, response.json()]).toEqual([200, { likes }]);
    }
    expect(await shown()).toEqual([3]);
  });

  test('only the given comment is liked', async () => {
    await site.ask.post('/api/comments', { productId, content: 'Not me' }, newVisitor());
    await like();
    expect(await shown()).toEqual([1, 0]);
  });

  test('the comment id may be in upper case', async () => {
    expect((await like(commentId.toUpperCase())).json()).toEqual({ likes: 1 });
  });

  test('500 simultaneous likes through two processes add exactly 500, and every response has a different count', async () => {
    const responses = await Promise.all(
      Array.from({ length: 500 }, (_, index) => like(commentId, newVisitor(), index % 2 === 0 ? site : other)),
    );
    expect(responses.filter(({ statusCode }) => statusCode === 200)).toHaveLength(500);
    const counts = responses.map((response) => response.json<Likes>().likes).sort((a, b) => a - b);
    expect(counts).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    expect(await shown()).toEqual([500]);
  });

  test.each(['', '%20', '%09'])(
    "an empty id ('%s') is rejected with 400 'Comment ID is required' (SPEC section 5)",
    async (id) => {
      expectProblem(await like(id), 400, 'comment_id_required', 'Comment ID is required');
    },
  );

  test.each([
    '00000000-0000-4000-8000-000000000000',
    'nobody',
    '1',
    "'%20OR%20'1'='1",
    '%00',
    '__proto__',
    'x'.repeat(2_000),
    '{00000000-0000-4000-8000-000000000000}',
  ])("the unknown id '%s' returns 404 'Comment not found' (SPEC section 8)", async (id) => {
    expectProblem(await like(id), 404, 'comment_not_found', 'Comment not found');
    expect(await shown()).toEqual([0]);
  });

  test.each(BAD_SESSIONS)('a session that is %s is rejected with 400 and adds no like', async (_what, headers) => {
    expectProblem(await like(commentId, headers), 400, 'session_required');
    expect(await shown()).toEqual([0]);
  });

  test.each(GOOD_SESSIONS)('a session that is %s may like (SPEC section 3)', async (_what, headers) => {
    expect((await like(commentId, headers)).json()).toEqual({ likes: 1 });
  });

  test('the response is not cacheable', async () => {
    expect((await like()).headers['cache-control']).toBe('no-store');
  });
});
