import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addToOutbox, keyOfWrite, noteRefusal, outboxItems, removeFromOutbox, removeSent } from './outbox.ts';
import type { LaterWrite } from './send-later.ts';
import { createTestStorage } from './test-storage.ts';

const upvote = (upvoted: boolean, before: boolean): LaterWrite => ({
  kind: 'upvote',
  productId: 'harbour',
  upvoted,
  before,
});
const comment = (key: string): LaterWrite => ({
  kind: 'comment',
  productId: 'harbour',
  content: 'Calm water.',
  website: '',
  idempotencyKey: key,
});

/** A browser's storage; `refuses` as one does that blocks it. */
function storage({ refuses = false } = {}) {
  const localStorage = createTestStorage();
  vi.stubGlobal('window', {
    get localStorage() {
      if (refuses) throw new DOMException('Blocked', 'SecurityError');
      return localStorage;
    },
  });
  return localStorage;
}

afterEach(() => {
  // What a storage refused is remembered until one takes it.
  storage();
  addToOutbox(comment('last'));
  for (const item of outboxItems()) removeFromOutbox(keyOfWrite(item));
  vi.unstubAllGlobals();
});

describe.each([false, true])('what waits, where storage refuses: %s', (refuses) => {
  beforeEach(() => {
    storage({ refuses });
  });

  test('stays in its order', () => {
    addToOutbox(comment('one'));
    addToOutbox(upvote(true, false));
    addToOutbox(comment('two'));
    expect(outboxItems().map(keyOfWrite)).toEqual(['comment one', 'upvote harbour', 'comment two']);
    removeFromOutbox('comment one');
    expect(outboxItems()).toHaveLength(2);
  });

  test('of one product’s upvote is the last wish, and what was before the first', () => {
    addToOutbox(upvote(true, false));
    addToOutbox(upvote(false, true));
    expect(outboxItems()).toEqual([upvote(false, false)]);
  });

  test('of which an older wish was sent is the newer one', () => {
    addToOutbox(upvote(true, false));
    const [sent] = outboxItems();
    addToOutbox(upvote(false, true));
    if (sent) removeSent(sent);
    expect(outboxItems()).toEqual([upvote(false, false)]);
    const [last] = outboxItems();
    if (last) removeSent(last);
    expect(outboxItems()).toEqual([]);
  });

  test('is bounded', () => {
    for (let number = 0; number < 50; number += 1) expect(addToOutbox(comment(`${number}`))).toBe(true);
    expect(addToOutbox(comment('one too many'))).toBe(false);
    expect(addToOutbox(comment('7')), 'what waits already still may').toBe(true);
    expect(outboxItems()).toHaveLength(50);
  });

  test('keeps why a comment was refused until it is sent again', () => {
    addToOutbox(comment('one'));
    noteRefusal('comment one', 'Product not found');
    expect(outboxItems()).toEqual([{ ...comment('one'), refused: 'Product not found' }]);
    noteRefusal('comment one', undefined);
    expect(outboxItems()).toEqual([comment('one')]);
  });

  test('is the same array as long as nothing changes', () => {
    addToOutbox(comment('one'));
    expect(outboxItems()).toBe(outboxItems());
  });
});

test.each(['nonsense', '{}', '[1, null, {"kind":"upvote"}]', '[{"kind":"comment","productId":"a"}]'])(
  'what something else put there is left alone: %s',
  (text) => {
    storage().kept.set('outbox', text);
    expect(outboxItems()).toEqual([]);
  },
);

test('in a storage that is full, what waits does so as long as the page lives, and what is stored is not sent again', () => {
  const localStorage = storage();
  addToOutbox(comment('one'));
  localStorage.isFull = true;
  expect(addToOutbox(comment('two'))).toBe(true);
  expect(outboxItems()).toEqual([comment('one'), comment('two')]);
  removeFromOutbox('comment one');
  expect(outboxItems()).toEqual([comment('two')]);
  localStorage.isFull = false;
  removeFromOutbox('comment two');
  expect(outboxItems()).toEqual([]);
  expect(localStorage.kept.size).toBe(0);
});
