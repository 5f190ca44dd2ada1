import { expect, test } from 'vitest';
import { clampText } from './head-tags.ts';

test('a short text keeps all its words, on one line', () => {
  expect(clampText('  Two\n lines ', 20)).toBe('Two lines');
  expect(clampText('exactly ten', 11)).toBe('exactly ten');
  expect(clampText('', 10)).toBe('');
});

test('a long text ends after a word, without trailing punctuation', () => {
  expect(clampText('The quick brown fox jumps', 20)).toBe('The quick brown fox…');
  expect(clampText('The quick brown, fox jumps', 18)).toBe('The quick brown…');
});

test('text without spaces is truncated between characters', () => {
  expect(clampText('発'.repeat(50), 10)).toBe(`${'発'.repeat(9)}…`);
});

test.each([
  ['a family', '👩‍👩‍👧‍👦'],
  ['a flag', '🇳🇴'],
  ['a letter with its marks', 'é̂'],
  ['a Hindi syllable', 'नि'],
])('truncation does not split %s', (_name, character) => {
  const clamped = clampText(character.repeat(5_000), 10);
  expect(clamped).toBe(`${character.repeat(9)}…`);
  expect(clamped.isWellFormed()).toBe(true);
});

test('a text of one very long grapheme is still truncated', () => {
  expect(clampText(`e${'\u0301'.repeat(10_000)}`, 10).length).toBeLessThanOrEqual(320);
});
