import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { draftOn, drafts, dropDraft, keepDraft } from './drafts.ts';

const kept = new Map<string, string>();

beforeEach(() => {
  kept.clear();
  vi.stubGlobal('window', {
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
      removeItem: (key: string) => kept.delete(key),
    },
  });
});

afterEach(() => vi.unstubAllGlobals());

const DAY_MS = 24 * 60 * 60_000;
const textOn = (productId: string) => draftOn(drafts.read(), productId)?.text;
const keyOn = (productId: string) => draftOn(drafts.read(), productId)?.idempotencyKey;

test('each product has a draft of its own, and an empty one is none', () => {
  keepDraft('harbour', 'Calm');
  keepDraft('pier', 'Long');
  expect([textOn('harbour'), textOn('pier'), textOn('quay')]).toEqual(['Calm', 'Long', undefined]);
  keepDraft('harbour', '');
  keepDraft('pier', '');
  expect(drafts.read()).toEqual([]);
  expect(kept.size).toBe(0);
});

test('another text gets another key; blanks around it make no other text', () => {
  keepDraft('harbour', 'Calm');
  const key = keyOn('harbour');
  keepDraft('harbour', 'Calm ');
  expect(keyOn('harbour')).toBe(key);
  keepDraft('harbour', 'Calm water');
  expect(keyOn('harbour')).not.toBe(key);
});

test('what was posted is dropped, and what was written since stays', () => {
  keepDraft('harbour', 'Calm');
  const posted = draftOn(drafts.read(), 'harbour');
  keepDraft('harbour', 'Calm water');
  if (posted) dropDraft(posted);
  expect(textOn('harbour')).toBe('Calm water');
  const newer = draftOn(drafts.read(), 'harbour');
  if (newer) dropDraft(newer);
  expect(textOn('harbour')).toBeUndefined();
});

test('only the 20 latest are kept, and none for longer than 30 days', () => {
  for (let number = 1; number <= 21; number += 1) keepDraft(`p${number}`, 'Text', number);
  expect(drafts.read()).toHaveLength(20);
  expect(textOn('p1')).toBeUndefined();
  keepDraft('p2', 'Text again', 30 * DAY_MS + 10);
  expect(drafts.read().map(({ productId }) => productId)).toEqual([
    'p2',
    ...Array.from({ length: 11 }, (_, index) => `p${21 - index}`),
  ]);
});

test('what is no draft is left out', () => {
  kept.set('comment_drafts', '[1, null, {"productId":"a"}, {"productId":"b","text":"T","idempotencyKey":"k","at":1}]');
  expect(drafts.read().map(({ productId }) => productId)).toEqual(['b']);
});
