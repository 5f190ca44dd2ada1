import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { lookupGramsOf, searchGramsOf } from './search-grams.ts';
import { foldText, searchTextOf } from './search-text.ts';

const code = (character: string) => character.codePointAt(0) ?? 0;
const pair = (first: string, second: string) => (code(first) << 16) ^ code(second);

describe('the n-grams of a text', () => {
  test.each([
    ['exclude common English characters and pairs', 'the data of your team, every day.', []],
    ['include rare pairs of letters', 'zq', [pair('z', 'q')]],
    ['include rare symbols, and pairs with them', 'c++', [pair('c', '+'), code('+'), pair('+', '+')]],
    ['include characters and pairs of other scripts', '東京', [code('東'), code('京'), pair('東', '京')]],
    ['include no pairs with white space', 'a % é\n🌊', [code('%'), code('é'), code('🌊')]],
    ['are listed once each', '🌊🌊🌊 🌊', [code('🌊'), pair('🌊', '🌊')]],
    ['do not exist for an empty text', '', []],
  ])('%s', (_what, text, grams) => {
    expect(searchGramsOf(text).toSorted()).toEqual(grams.toSorted());
  });

  test.each(['\u{10ffff}\u{10ffff}', '\uffff\uffff', '\ud7ff\ue000', '\u{1f30a}\u{20000}'])(
    'fit into an integer of PostgreSQL (case %#)',
    (text) => {
      const grams = searchGramsOf(text);
      expect(Array.from(Int32Array.from(grams))).toEqual(grams);
    },
  );

  test('average fewer than two per text of the sample catalogue', () => {
    const products: { name: string; description: string }[] = JSON.parse(
      readFileSync(join(PACKAGE_FOLDERS.catalogue, 'products.json'), 'utf8'),
    );
    const sizes = products.map((product) => searchGramsOf(searchTextOf(product)).length);
    expect(sizes.length).toBeGreaterThan(50);
    expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(2);
  });
});

describe('the n-grams to look up for a term', () => {
  test.each([
    ['include a pair without its characters', '東京', [pair('東', '京')]],
    ['include a character that is in no pair', '京 c+', [code('京'), pair('c', '+')]],
    ['include a rare character', '§', [code('§')]],
    ['exclude a common pair', 'th', []],
    ['exclude a common character', 'e', []],
    ['include a pair that has the same number as its second character', '\u{20000}世', [code('世')]],
  ])('%s', (_what, term, grams) => {
    expect(lookupGramsOf(term).toSorted()).toEqual(grams.toSorted());
  });

  test('are among the n-grams of every text that contains the term', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'abqxz 0%_\\+\n東京é\u0301🌊\u{20000}\u200d'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const part = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''));
    fc.assert(
      fc.property(part, part, part, (before, term, after) => {
        const text = foldText(before) + foldText(term) + foldText(after);
        expect(searchGramsOf(text)).toEqual(expect.arrayContaining(lookupGramsOf(foldText(term))));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });
});
