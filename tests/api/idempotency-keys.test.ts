import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { deleteExpiredKeys } from '../../src/core/comments/draft.ts';
import { startDiscussedSite } from '../support/discussed-site.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';

const on = startDiscussedSite();
const { clock, post, list, total, setLikes } = on;

describe('Idempotency-Key (api.md: the same key from the same session within 24 h makes one comment)', () => {
  const draft = (content = 'Once') => ({ productId: on.productId, content });

  test('sent again it is 200 with the first comment; another text is 422 and can be sent under a new key', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const first = await post(draft(), headers);
    const second = await post(draft(), headers);
    const third = await on.other.ask.post('/api/comments', draft('Edited meanwhile'), headers);
    expect([first.statusCode, second.statusCode]).toEqual([201, 200]);
    expect(second.json()).toEqual(first.json());
    expectProblem(third, 422, 'idempotency_key_reused');
    expect(await total()).toBe(1);
  });

  test('20 times at once, through two processes: one comment, created once, in every response', async () => {
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

  test('a like in between shows in the response to the second request', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const { comment } = (await post(draft(), headers)).json<AddedComment>();
    await setLikes(comment.id, 3);
    expect((await post(draft(), headers)).json()).toEqual({ comment: { ...comment, likes: 3 } });
  });

  test('the same key in another session, and another key in the same session, are other drafts', async () => {
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

  test('housekeeping deletes old keys and retains young ones', async () => {
    const [old, young] = [randomUUID(), randomUUID()].map((key) => ({ ...newVisitor(), 'idempotency-key': key }));
    await post(draft(), old);
    clock.advance({ hours: 24, milliseconds: 1 });
    await post(draft(), young);
    await deleteExpiredKeys(on.site.database, clock.now());
    expect((await post(draft(), old)).statusCode).toBe(201);
    expect((await post(draft(), young)).statusCode).toBe(200);
  });

  test('a refused comment does not use up its key', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': randomUUID() };
    expect((await post({ productId: 'nobody', content: 'x' }, headers)).statusCode).toBe(404);
    expect((await post({ productId: on.productId, content: 'x'.repeat(2_001) }, headers)).statusCode).toBe(422);
    expect((await post(draft(), headers)).statusCode).toBe(201);
  });

  test.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['201 characters long', 'k'.repeat(201)],
    ['not ASCII', 'é'],
  ])('a key that is %s is 400, and nothing is written', async (_what, key) => {
    const response = await post(draft(), { ...newVisitor(), 'idempotency-key': key });
    expectProblem(response, 400, 'idempotency_key_invalid');
    expect(await total()).toBe(0);
  });

  test('a key may have 200 characters', async () => {
    const headers = { ...newVisitor(), 'idempotency-key': '~'.repeat(200) };
    expect([(await post(draft(), headers)).statusCode, (await post(draft(), headers)).statusCode]).toEqual([201, 200]);
  });
});
