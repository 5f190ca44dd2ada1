import { expect, test } from 'vitest';
import { judgeDraft } from './draft.ts';

test.each(['', '   ', '\n\t '])('%j cannot be posted', (text) => {
  expect(judgeDraft(text).postable).toBe(false);
});

test('a draft is posted trimmed', () => {
  expect(judgeDraft('  Calm\nwater. ')).toMatchObject({ content: 'Calm\nwater.', postable: true, showLeft: false });
});

test('characters are counted as a person counts them, and said when few are left', () => {
  expect(judgeDraft('🌊'.repeat(2_000))).toMatchObject({ left: 0, showLeft: true, postable: true });
  expect(judgeDraft('🌊'.repeat(2_001))).toMatchObject({ left: -1, showLeft: true, postable: false });
});
