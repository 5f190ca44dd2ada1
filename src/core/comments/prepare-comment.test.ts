import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import type { Runtime } from '../runtime.ts';
import { prepareComment } from './prepare-comment.ts';

const ID = '0e9c4a86-6a2c-4bb2-9f0f-1f2a3b4c5d6e';
const runtime: Runtime = { now: () => new Date('2026-06-01T12:00:00.000Z'), monotonicMs: () => 0, uuid: () => ID };
const sender = { session: 'session-a', idempotencyKey: 'draft-1' };

function prepare(content: string, productId = 'tide') {
  return prepareComment(runtime, { productId, content }, sender);
}

/** Returns the code and the message of the error with which a comment is refused. */
function refusalOf(content: string, productId?: string): unknown {
  try {
    return prepare(content, productId);
  } catch (error) {
    return error instanceof Error && 'code' in error ? [error.code, error.message] : error;
  }
}

test('a text becomes a public comment by You, with trimmed text, the current time, a new id and no likes', () => {
  expect(prepare('  Worktrees!\n')).toEqual({
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

test('a held comment stores its session, and a public comment does not', () => {
  const held = prepareComment(runtime, { productId: 'tide', content: 'x' }, sender, { held: true });
  expect(held.heldSession).toBe('session-a');
  expect(prepareComment(runtime, { productId: 'tide', content: 'x' }, sender, {}).heldSession).toBeNull();
});

test.each(['', ' \n\t', '\u200b', '\u200b \u00ad', '\u2028', '\u0007', '\u3164', '\u2800', '\u0301', '\ufe0f'])(
  'a text without visible characters counts as empty: %j',
  (content) => {
    expect(refusalOf(content)).toEqual(['comment_incomplete', 'Product ID and content are required']);
  },
);

test('a comment without a product id is incomplete, and one with an invalid id gets product_not_found', () => {
  expect(refusalOf('Text', '')).toEqual(['comment_incomplete', 'Product ID and content are required']);
  expect(refusalOf('Text', 'Not an id')).toEqual(['product_not_found', 'Product not found']);
});

test('a text with one visible character among invisible ones is accepted', () => {
  expect(prepare('\u200b.\u200b').comment.content).toBe('\u200b.\u200b');
});

test('the length limit counts an emoji as one character, like a letter', () => {
  const most = LIMITS.commentCharacters;
  expect(prepare('x'.repeat(most)).comment.content).toHaveLength(most);
  expect([...prepare('🌊'.repeat(most)).comment.content]).toHaveLength(most);
  const tooLong = ['comment_too_long', 'The comment is longer than 2,000 characters.'];
  expect(refusalOf('x'.repeat(most + 1))).toEqual(tooLong);
  expect(refusalOf('🌊'.repeat(most + 1))).toEqual(tooLong);
  expect(prepare(` ${'x'.repeat(most)} `).comment.content).toHaveLength(most);
});
