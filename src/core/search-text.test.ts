import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldText, likeInOrder, likePattern, searchTextOf } from './search-text.ts';

describe('folding', () => {
  test.each([
    ['Latin', 'ÅNGSTRÖM', 'ångström'],
    ['Greek, with either form of sigma at the end', 'ΟΔΥΣΣΕΥΣ', 'οδυσσευς'],
    ['Cyrillic', 'ЖУРНАЛ', 'журнал'],
    ['Armenian', 'ԵՐԵՎԱՆ', 'երեվան'],
    ['Georgian', 'ᲗᲑᲘᲚᲘᲡᲘ', 'თბილისი'],
    ['full width', 'ＡＢＣ％', 'abc%'],
    ['ligatures', 'ﬁle', 'FILE'],
    ['composed and decomposed accents', 'Café', 'CAFE\u0301'],
    ['capital letters without a composed form', 'J\u030cazz', '\u01f0AZZ'],
  ])('both spellings fold to the same text: %s', (_script, one, other) => {
    expect(foldText(one)).toBe(foldText(other));
  });

  test('every sigma becomes the same letter', () => {
    expect(foldText('ΣΟΦΟΣ')).toBe('σοφοσ');
  });

  test('text without case stays unchanged', () => {
    expect(foldText('製品 منتج 🚀')).toBe('製品 منتج 🚀');
  });

  test.each([
    ['combining marks', '\u0301\u0323'],
    ['combining marks and half-width voiced sound marks', '\u0301\uff9e'],
  ])('a run of a million %s is folded in linear time, and folding it again does not change it', (_what, marks) => {
    const folded = foldText(`A${marks.repeat(500_000)}`);
    expect(folded).toMatch(/^[ạá]/u);
    expect(foldText(folded)).toBe(folded);
  });

  test('any part of a text, cut between characters, folds to a part of the folded text', () => {
    const graphemes = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }));
    fc.assert(
      fc.property(graphemes, graphemes, graphemes, (before, part, after) => {
        expect(foldText([...before, ...part, ...after].join(''))).toContain(foldText(part.join('')));
      }),
    );
  });
});

describe('search text', () => {
  test('the search text contains the folded name and description, separated by a line break', () => {
    expect(searchTextOf({ name: 'Vue', description: 'A Framework' })).toBe('vue\na framework');
  });
});

describe('patterns', () => {
  test.each([
    ['%', '%\\%%'],
    ['_', '%\\_%'],
    ['\\', '%\\\\%'],
    ['100%_\\', '%100\\%\\_\\\\%'],
    ['％', '%\\%%'],
  ])('%s is matched literally', (term, pattern) => {
    expect(likePattern(term)).toBe(pattern);
  });

  test('a pattern of several parts matches them in order, with any text between them', () => {
    expect(likeInOrder(['To', '5%'])).toBe('%to%5\\%%');
  });
});
