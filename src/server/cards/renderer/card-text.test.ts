import { describe, expect, test } from 'vitest';
import { drawableText, firstSentence, isRightToLeft, wrapText } from './card-text.ts';

const all = () => true;
/** Wraps text in a font whose characters all have width one. */
const wrap = (text: string, maxWidth: number, maxLines: number) =>
  wrapText(text, { maxWidth, maxLines, measure: (part) => [...part].length });

describe('lines', () => {
  test.each([
    ['end between words', 'the quick brown fox', 10, ['the quick', 'brown fox']],
    ['end after a hyphen', 'open-source everything', 12, ['open-source', 'everything']],
    ['keep brackets and quotes with their words', 'say (not “now”) again', 9, ['say (not', '“now”)', 'again']],
    ['never begin with the full stop of a script without spaces', '波を見る。海へ', 5, ['波を見る。', '海へ']],
    ['break a word that is longer than a line', 'abcdefghij kl', 4, ['abcd', 'efgh', 'ij', 'kl']],
  ])('%s', (_name, text, maxWidth, lines) => {
    const wrapped = wrap(text, maxWidth, 9);
    expect(wrapped.isCut).toBe(false);
    expect(wrapped.lines).toEqual(lines);
  });

  test('end between words of a script without spaces', () => {
    const { lines } = wrap('开源数据库产品发现平台', 4, 9);
    expect(lines.join('')).toBe('开源数据库产品发现平台');
    expect(lines.length).toBeLessThanOrEqual(4);
    expect(wrap('ภาษาไทยสำหรับ', 8, 9).lines).toEqual(['ภาษาไทย', 'สำหรับ']);
  });

  test('beyond the maximum are replaced by an ellipsis, which also fits into the last line', () => {
    const { lines, isCut } = wrap('the quick brown fox jumps over the lazy dog', 10, 2);
    expect(lines).toEqual(['the quick', 'brown fox…']);
    expect(isCut).toBe(true);
  });

  test('are cut between visible characters', () => {
    expect(wrap('👩‍💻👩‍💻👩‍💻👩‍💻', 7, 1).lines).toEqual(['👩‍💻👩‍💻…']);
  });

  test('of 5,000 characters fit into the box, with and without spaces', () => {
    for (const text of ['wave '.repeat(1_000), 'w'.repeat(5_000), '波'.repeat(5_000)]) {
      const { lines, isCut } = wrap(drawableText(text, all), 20, 3);
      expect(lines).toHaveLength(3);
      expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(20);
      expect(lines.at(-1)).toMatch(/…$/);
      expect(isCut).toBe(true);
    }
  });
});

describe('a text to be drawn', () => {
  test('has one line and no direction overrides', () => {
    expect(drawableText(' a\n\tb\u202ec\u2066d\u0000 ', all)).toBe('a bcd');
  });

  test('is empty without visible characters', () => {
    expect(drawableText('\u3164 \u2800\u00ad\u115f\uffa0\u206a', all)).toBe('');
  });

  test('is never cut within a character', () => {
    expect(drawableText('a\ud83db', all)).toBe('ab');
  });

  test('shows characters that the fonts lack in their plain form, or not at all', () => {
    const latin = (codePoint: number) => codePoint < 0x250;
    expect(drawableText('𝓕𝓪𝓷𝓬𝔂 ﬁne བོད end', latin)).toBe('Fancy fine end');
  });

  test('keeps the parts of an emoji together', () => {
    expect(drawableText('👩‍💻 👍🏽 ❤️ 1️⃣', all)).toBe('👩‍💻 👍🏽 ❤️ 1');
  });
});

test('the direction is that of the first letter', () => {
  expect(['مرحبا World', '“שלום”', '2026 تقنية'].map(isRightToLeft)).toEqual([true, true, true]);
  expect(['World مرحبا', '日本', '2026', ''].map(isRightToLeft)).toEqual([false, false, false, false]);
});

test('the tagline ends with the first sentence that ends after 40 characters', () => {
  expect(firstSentence('Hi. This one says what it is about at last. And more.')).toBe(
    'Hi. This one says what it is about at last.',
  );
  expect(firstSentence('No end')).toBe('No end');
});
