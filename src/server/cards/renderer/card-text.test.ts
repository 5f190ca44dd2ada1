import { describe, expect, test } from 'vitest';
import { drawableText, firstSentence, isRightToLeft, wrapText } from './card-text.ts';

const all = () => true;
/** Wraps text in a font whose characters all have width one. */
const wrap = (text: string, maxWidth: number, maxLines: number) =>
  wrapText(text, { maxWidth, maxLines, measure: (part) => [...part].length });

describe('wrapping', () => {
  test.each([
    ['lines end between words', 'the quick brown fox', 10, ['the quick', 'brown fox']],
    ['a line can end after a hyphen', 'open-source everything', 12, ['open-source', 'everything']],
    ['brackets and quotes stay with their words', 'say (not “now”) again', 9, ['say (not', '“now”)', 'again']],
    ['no line begins with an ideographic full stop', '波を見る。海へ', 5, ['波を見る。', '海へ']],
    ['a word that is longer than a line is broken', 'abcdefghij kl', 4, ['abcd', 'efgh', 'ij', 'kl']],
  ])('%s', (_name, text, maxWidth, lines) => {
    const wrapped = wrap(text, maxWidth, 9);
    expect(wrapped.isCut).toBe(false);
    expect(wrapped.lines).toEqual(lines);
  });

  test('lines end between the words of a script without spaces', () => {
    const { lines } = wrap('开源数据库产品发现平台', 4, 9);
    expect(lines.join('')).toBe('开源数据库产品发现平台');
    expect(lines.length).toBeLessThanOrEqual(4);
    expect(wrap('ภาษาไทยสำหรับ', 8, 9).lines).toEqual(['ภาษาไทย', 'สำหรับ']);
  });

  test('text beyond the last line is replaced by an ellipsis, which fits into that line', () => {
    const { lines, isCut } = wrap('the quick brown fox jumps over the lazy dog', 10, 2);
    expect(lines).toEqual(['the quick', 'brown fox…']);
    expect(isCut).toBe(true);
  });

  test('an emoji that consists of several code points is not cut in two', () => {
    expect(wrap('👩‍💻👩‍💻👩‍💻👩‍💻', 7, 1).lines).toEqual(['👩‍💻👩‍💻…']);
  });

  test('a text of 5,000 characters fits into the box, with and without spaces', () => {
    for (const text of ['wave '.repeat(1_000), 'w'.repeat(5_000), '波'.repeat(5_000)]) {
      const { lines, isCut } = wrap(drawableText(text, all), 20, 3);
      expect(lines).toHaveLength(3);
      expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(20);
      expect(lines.at(-1)).toMatch(/…$/);
      expect(isCut).toBe(true);
    }
  });
});

describe('drawable text', () => {
  test('drawable text has one line and no direction overrides', () => {
    expect(drawableText(' a\n\tb\u202ec\u2066d\u0000 ', all)).toBe('a bcd');
  });

  test('a text without visible characters becomes empty', () => {
    expect(drawableText('\u3164 \u2800\u00ad\u115f\uffa0\u206a', all)).toBe('');
  });

  test('a lone surrogate is removed', () => {
    expect(drawableText('a\ud83db', all)).toBe('ab');
  });

  test('characters that the fonts lack are shown in their plain form, or not at all', () => {
    const latin = (codePoint: number) => codePoint < 0x250;
    expect(drawableText('𝓕𝓪𝓷𝓬𝔂 ﬁne བོད end', latin)).toBe('Fancy fine end');
  });

  test('the parts of an emoji stay together', () => {
    expect(drawableText('👩‍💻 👍🏽 ❤️ 1️⃣', all)).toBe('👩‍💻 👍🏽 ❤️ 1');
  });
});

test('the direction of a text is that of its first letter', () => {
  expect(['مرحبا World', '“שלום”', '2026 تقنية'].map(isRightToLeft)).toEqual([true, true, true]);
  expect(['World مرحبا', '日本', '2026', ''].map(isRightToLeft)).toEqual([false, false, false, false]);
});

test('the tagline ends with the first sentence that ends after 40 characters', () => {
  expect(firstSentence('Hi. This one says what it is about at last. And more.')).toBe(
    'Hi. This one says what it is about at last.',
  );
  expect(firstSentence('No end')).toBe('No end');
});
