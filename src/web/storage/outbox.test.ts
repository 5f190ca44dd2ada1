import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../tests/support/browser-storage.ts';
import {
  addToOutbox,
  outboxItems,
  type QueuedWrite,
  removeFromOutbox,
  removeSent,
  setRefusal,
  writeKey,
} from './outbox.ts';

const upvote = (upvoted: boolean, before: boolean): QueuedWrite => ({
  kind: 'upvote',
  productId: 'harbour',
  upvoted,
  before,
});
const comment = (key: string): QueuedWrite => ({
  kind: 'comment',
  productId: 'harbour',
  content: 'Calm water.',
  website: '',
  idempotencyKey: key,
});

/** Stubs the browser's storage. With `refuses`, access to it throws an error. */
function storage({ refuses = false } = {}) {
  const localStorage = createBrowserStorage();
  vi.stubGlobal('window', {
    get localStorage() {
      if (refuses) throw new DOMException('Blocked', 'SecurityError');
      return localStorage;
    },
  });
  return localStorage;
}

afterEach(() => {
  // Replaces the storage, because rejected values stay in memory until a storage accepts them.
  storage();
  addToOutbox(comment('last'));
  for (const item of outboxItems()) removeFromOutbox(writeKey(item));
  vi.unstubAllGlobals();
});

describe('the queue', () => {
  beforeEach(() => {
    storage();
  });

  test('keeps its order', () => {
    addToOutbox(comment('one'));
    addToOutbox(upvote(true, false));
    addToOutbox(comment('two'));
    expect(outboxItems().map(writeKey)).toEqual(['comment one', 'upvote harbour', 'comment two']);
    removeFromOutbox('comment one');
    expect(outboxItems()).toHaveLength(2);
  });

  test('replaces a queued upvote of the same product, and remembers the state before the first one', () => {
    addToOutbox(upvote(true, false));
    addToOutbox(upvote(false, true));
    expect(outboxItems()).toEqual([upvote(false, false)]);
  });

  test('keeps a newer change after an older one has been sent', () => {
    addToOutbox(upvote(true, false));
    const [sent] = outboxItems();
    addToOutbox(upvote(false, true));
    if (sent) removeSent(sent);
    expect(outboxItems()).toEqual([upvote(false, false)]);
    const [last] = outboxItems();
    if (last) removeSent(last);
    expect(outboxItems()).toEqual([]);
  });

  test('accepts at most 50 writes', () => {
    for (let number = 0; number < 50; number += 1) expect(addToOutbox(comment(`${number}`))).toBe(true);
    expect(addToOutbox(comment('one too many'))).toBe(false);
    expect(addToOutbox(comment('7')), 'a queued comment can be queued again').toBe(true);
    expect(outboxItems()).toHaveLength(50);
  });

  test('stores why a comment was refused until the comment is sent again', () => {
    addToOutbox(comment('one'));
    setRefusal('comment one', 'Product not found');
    expect(outboxItems()).toEqual([{ ...comment('one'), refused: 'Product not found' }]);
    setRefusal('comment one', undefined);
    expect(outboxItems()).toEqual([comment('one')]);
  });

  test('is the same array until it changes', () => {
    addToOutbox(comment('one'));
    expect(outboxItems()).toBe(outboxItems());
  });
});

test.each([
  'nonsense',
  '{}',
  '[1, null, {"kind":"upvote"}]',
  '[{"kind":"upvote","productId":"a","upvoted":true}]',
  '[{"kind":"comment","productId":"a"}]',
])('invalid stored values are ignored: %s', (text) => {
  storage().stored.set('outbox', text);
  expect(outboxItems()).toEqual([]);
});

test('if storage is full, further writes are refused, and sent writes are not sent again', () => {
  const localStorage = storage();
  addToOutbox(upvote(true, false));
  addToOutbox(comment('one'));
  localStorage.isFull = true;
  expect(addToOutbox(comment('two')), 'it would be lost with the page').toBe(false);
  expect(outboxItems()).toEqual([upvote(true, false), comment('one')]);
  removeFromOutbox('comment one');
  expect(outboxItems()).toEqual([upvote(true, false)]);
  localStorage.isFull = false;
  removeFromOutbox('upvote harbour');
  expect(outboxItems()).toEqual([]);
  expect(localStorage.stored.size).toBe(0);
});

test('if storage is blocked, writes are refused', () => {
  storage({ refuses: true });
  expect(addToOutbox(comment('one'))).toBe(false);
  expect(outboxItems()).toEqual([]);
});
