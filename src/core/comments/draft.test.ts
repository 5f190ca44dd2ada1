import { expect, test } from 'vitest';
import { LIMITS } from '../../contract/limits.ts';
import type { Sources } from '../sources.ts';
import { draftComment } from './draft.ts';

const ID = '0e9c4a86-6a2c-4bb2-9f0f-1f2a3b4c5d6e';
const sources: Sources = { now: () => new Date('2026-06-01T12:00:00.000Z'), uuid: () => ID };
const sender = { session: 'session-a', idempotencyKey: 'draft-1' };

function draft(content: string, productId = 'tide') {
  return draftComment(sources, { productId, content }, sender);
}

/** The code and the message with which a draft is refused. */
function refusalOf(content: string, productId?: string): unknown {
  try {
    return draft(content, productId);
  } catch (error) {
    return error instanceof Error && 'code' in error ? [error.code, error.message] : error;
  }
}

test('a draft is the trimmed text by You, now, without likes, under a new id, and seen by everybody', () => {
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
    heldFor: null,
  });
});

test('one that is held is seen by its session alone', () => {
  const held = draftComment(sources, { productId: 'tide', content: 'x' }, sender, { held: true });
  expect(held.heldFor).toBe('session-a');
  expect(draftComment(sources, { productId: 'tide', content: 'x' }, sender, {}).heldFor).toBeNull();
});

test.each(['', ' \n\t', '\u200b', '\u200b \u00ad', '\u2028', '\u0007'])(
  'a text that shows nothing is none: %j',
  (content) => {
    expect(refusalOf(content)).toEqual(['comment_incomplete', 'Product ID and content are required']);
  },
);

test('a draft for no product at all is incomplete; for one that cannot be, the product is not found', () => {
  expect(refusalOf('Text', '')).toEqual(['comment_incomplete', 'Product ID and content are required']);
  expect(refusalOf('Text', 'Not an id')).toEqual(['product_not_found', 'Product not found']);
});

test('one visible character among those that show nothing is a text', () => {
  expect(draft('\u200b.\u200b').comment.content).toBe('\u200b.\u200b');
});

test('characters are counted as people count them: the longest text is one of letters or one of emoji', () => {
  const most = LIMITS.commentCharacters;
  expect(draft('x'.repeat(most)).comment.content).toHaveLength(most);
  expect([...draft('🌊'.repeat(most)).comment.content]).toHaveLength(most);
  const tooLong = ['comment_too_long', 'A comment has at most 2000 characters'];
  expect(refusalOf('x'.repeat(most + 1))).toEqual(tooLong);
  expect(refusalOf('🌊'.repeat(most + 1))).toEqual(tooLong);
  expect(draft(` ${'x'.repeat(most)} `).comment.content).toHaveLength(most);
});
