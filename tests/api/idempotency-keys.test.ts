import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { deleteExpiredKeys } from '../../src/core/comments/idempotency-keys.ts';
import { startDiscussedSite } from '../support/discussed-site.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';

const on = startDiscussedSite();
const { clock, post, list, total, setLikes } = on;

describe('the idempotency key of a comment (api.md, Comments)', () => {
  const draft = (content = 'Once') => ({ productId: on.productId, content });

  test('returns 200 with the first comment when it is sent again, or 422 if the text is different', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const first = await post(draft(), headers);
    const second = await post(draft(), headers);
    const third = await on.other.ask.post('/api/comments', draft('Edited meanwhile'), headers);
    expect([first.statusCode, second.statusCode]).toEqual([201, 200]);
    expect(second.json()).toEqual(first.json());
    expectProblem(third, 422, 'idempotency_key_reused');
    expect(await total()).toBe(1);
  });

  test('creates one comment, which every response contains, from 20 simultaneous requests to two processes', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? on.site : on.other).ask.post('/api/comments', draft(), headers),
      ),
    );
    expect(responses.map(({ statusCode }) => statusCode).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(new Set(responses.map((response) => response.json<AddedComment>().comment.id)).size).toBe(1);
    expect(await total()).toBe(1);
    expect((await list()).items).toHaveLength(1);
  });

  test('returns the comment with its current likes when it is sent again after a like', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const { comment } = (await post(draft(), headers)).json<AddedComment>();
    await setLikes(comment.id, 3);
    expect((await post(draft(), headers)).json()).toEqual({ comment: { ...comment, likes: 3 } });
  });

  test('creates another comment if either the key or the session is different', async () => {
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

  test('can be used again after 24 hours', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    await post(draft(), headers);
    clock.advance({ hours: 24 });
    expect((await post(draft(), headers)).statusCode).toBe(200);
    clock.advance({ milliseconds: 1 });
    expect((await post(draft(), headers)).statusCode).toBe(201);
    expect((await post(draft(), headers)).statusCode).toBe(200);
    expect(await total()).toBe(2);
  });

  test('is deleted by housekeeping once it has expired, but not before', async () => {
    const [old, young] = [randomUUID(), randomUUID()].map((key) => ({ ...newVisitor(), 'idempotency-key': key }));
    await post(draft(), old);
    clock.advance({ hours: 24, milliseconds: 1 });
    await post(draft(), young);
    await deleteExpiredKeys(on.site.database, clock.now());
    expect((await post(draft(), old)).statusCode).toBe(201);
    expect((await post(draft(), young)).statusCode).toBe(200);
  });

  test('remains unused if the comment is refused', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    expect((await post({ productId: 'nobody', content: 'x' }, headers)).statusCode).toBe(404);
    expect((await post({ productId: on.productId, content: 'x'.repeat(2_001) }, headers)).statusCode).toBe(422);
    expect((await post(draft(), headers)).statusCode).toBe(201);
  });

  test.each([
    ['empty', ''],
    ['a text with a space', 'a b'],
    ['201 characters long', 'k'.repeat(201)],
    ['not ASCII', 'é'],
  ])('is refused with 400, and nothing is written, if it is %s', async (_what, key) => {
    const response = await post(draft(), { ...newVisitor(), 'idempotency-key': key });
    expectProblem(response, 400, 'idempotency_key_invalid');
    expect(await total()).toBe(0);
  });

  test('may have 200 characters', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': '~'.repeat(200) };
    expect([(await post(draft(), headers)).statusCode, (await post(draft(), headers)).statusCode]).toEqual([201, 200]);
  });
});
