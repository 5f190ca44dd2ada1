import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../../tests/support/browser-storage.ts';
import { adoptText, draftOn, drafts, saveDraft, validateDraft } from './drafts.ts';
import { deleteDraft } from './write-comments.ts';

const localStorage = createBrowserStorage();
const { stored } = localStorage;

beforeEach(() => {
  stored.clear();
  vi.stubGlobal('window', { localStorage });
});

afterEach(() => vi.unstubAllGlobals());

const DAY_MS = 24 * 60 * 60_000;
const textOn = (productId: string) => draftOn(drafts.read(), productId)?.text;
const keyOn = (productId: string) => draftOn(drafts.read(), productId)?.idempotencyKey;

test('each product has its own draft, and an empty text is not a draft', () => {
  saveDraft('harbour', 'Calm');
  saveDraft('pier', 'Long');
  expect([textOn('harbour'), textOn('pier'), textOn('quay')]).toEqual(['Calm', 'Long', undefined]);
  saveDraft('harbour', '');
  saveDraft('pier', '');
  expect(drafts.read()).toEqual([]);
  expect(stored.size).toBe(0);
});

test('changed text gets a new idempotency key, unless only the whitespace around it changed', () => {
  saveDraft('harbour', 'Calm');
  const key = keyOn('harbour');
  saveDraft('harbour', 'Calm ');
  expect(keyOn('harbour')).toBe(key);
  saveDraft('harbour', 'Calm water');
  expect(keyOn('harbour')).not.toBe(key);
});

test('text that was typed before hydration is appended to the saved draft once', () => {
  adoptText('pier', 'Long');
  expect(textOn('pier')).toBe('Long');
  saveDraft('harbour', 'Calm');
  adoptText('harbour', 'Deep');
  adoptText('harbour', 'Deep');
  expect(textOn('harbour')).toBe('Calm\n\nDeep');
});

test('a posted draft is deleted, unless the text has changed since', () => {
  saveDraft('harbour', 'Calm');
  const posted = draftOn(drafts.read(), 'harbour');
  saveDraft('harbour', 'Calm water');
  deleteDraft('harbour', String(posted?.idempotencyKey));
  expect(textOn('harbour')).toBe('Calm water');
  const newer = draftOn(drafts.read(), 'harbour');
  deleteDraft('harbour', String(newer?.idempotencyKey));
  expect(textOn('harbour')).toBeUndefined();
});

test('only the 20 latest drafts are stored, and none for longer than 30 days', () => {
  for (let number = 1; number <= 21; number += 1) saveDraft(`p${number}`, 'Text', number);
  expect(drafts.read()).toHaveLength(20);
  expect(textOn('p1')).toBeUndefined();
  saveDraft('p2', 'Text again', 30 * DAY_MS + 10);
  expect(drafts.read().map(({ productId }) => productId)).toEqual([
    'p2',
    ...Array.from({ length: 11 }, (_, index) => `p${21 - index}`),
  ]);
});

test('invalid stored drafts are ignored', () => {
  stored.set(
    'comment_drafts',
    '[1, null, {"productId":"a"}, {"productId":"b","text":"T","idempotencyKey":"k","at":1}]',
  );
  expect(drafts.read().map(({ productId }) => productId)).toEqual(['b']);
});

test.each(['', '   ', '\n\t ', '\u200b\u2800\u3164'])('a comment without visible text cannot be posted: %j', (text) => {
  expect(validateDraft(text).postable).toBe(false);
});

test('a draft is trimmed before it is posted', () => {
  expect(validateDraft('  Calm\nwater. ')).toMatchObject({ content: 'Calm\nwater.', postable: true, showLeft: false });
});

test('characters are counted as code points, and the number of remaining characters is shown when it is low', () => {
  expect(validateDraft('🌊'.repeat(2_000))).toMatchObject({ left: 0, showLeft: true, postable: true });
  expect(validateDraft('🌊'.repeat(2_001))).toMatchObject({ left: -1, showLeft: true, postable: false });
});
