import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import type { Runtime } from '../runtime.ts';
import { draftComment } from './draft.ts';

const ID = '0e9c4a86-6a2c-4bb2-9f0f-1f2a3b4c5d6e';
const runtime: Runtime = { now: () => new Date('2026-06-01T12:00:00.000Z'), monotonicMs: () => 0, uuid: () => ID };
const sender = { session: 'session-a', idempotencyKey: 'draft-1' };

function draft(content: string, productId = 'tide') {
  return draftComment(runtime, { productId, content }, sender);
}

/** Returns the code and the message of the error with which a draft is refused. */
function refusalOf(content: string, productId?: string): unknown {
  try {
    return draft(content, productId);
  } catch (error) {
    return error instanceof Error && 'code' in error ? [error.code, error.message] : error;
  }
}

test('a draft becomes a public comment by You, with trimmed text, the current time, a new id and no likes', () => {
  expect(draft('  Worktrees!\n')).toEqual({
    ...sender,
    comment: {
      id: ID,
      productId: 'tide',
      authorName: 'You',
      authorAvatar: '/pictures/avatar-default.svg',
      authorBadge: null,
      content: 'Worktrees!',
      likes: 0,
      createdAt: '2026-06-01T12:00:00.000Z',
    },
    heldSession: null,
  });
});

test('a held draft is visible to its session only', () => {
  const held = draftComment(runtime, { productId: 'tide', content: 'x' }, sender, { held: true });
  expect(held.heldSession).toBe('session-a');
  expect(draftComment(runtime, { productId: 'tide', content: 'x' }, sender, {}).heldSession).toBeNull();
});

test.each(['', ' \n\t', '\u200b', '\u200b \u00ad', '\u2028', '\u0007', '\u3164', '\u2800', '\u0301', '\ufe0f'])(
  'a text without visible characters is empty: %j',
  (content) => {
    expect(refusalOf(content)).toEqual(['comment_incomplete', 'Product ID and content are required']);
  },
);

test('a draft without a product id is incomplete, and one with an invalid id gets product_not_found', () => {
  expect(refusalOf('Text', '')).toEqual(['comment_incomplete', 'Product ID and content are required']);
  expect(refusalOf('Text', 'Not an id')).toEqual(['product_not_found', 'Product not found']);
});

test('one visible character among invisible ones is enough', () => {
  expect(draft('\u200b.\u200b').comment.content).toBe('\u200b.\u200b');
});

test('the length limit counts an emoji as one character, like a letter', () => {
  const most = LIMITS.commentCharacters;
  expect(draft('x'.repeat(most)).comment.content).toHaveLength(most);
  expect([...draft('🌊'.repeat(most)).comment.content]).toHaveLength(most);
  const tooLong = ['comment_too_long', 'The comment is longer than 2000 characters'];
  expect(refusalOf('x'.repeat(most + 1))).toEqual(tooLong);
  expect(refusalOf('🌊'.repeat(most + 1))).toEqual(tooLong);
  expect(draft(` ${'x'.repeat(most)} `).comment.content).toHaveLength(most);
});
