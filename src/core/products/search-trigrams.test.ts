import { expect, test } from 'vitest';
import { rarePartsOf, trigramsOf } from './search-trigrams.ts';

const shares = (known: Record<string, number>) => (trigram: string) => known[trigram] ?? 1 / 2_000;

test('a trigram is three consecutive letters or digits, counted in characters', () => {
  const textsOf = (text: string) => Array.from(trigramsOf(text, 'unicode'), (trigram) => trigram.text);
  expect(textsOf('c++ for web2')).toEqual(['for', 'web', 'eb2']);
  expect(textsOf('𠮷野家𠮷野')).toEqual(['𠮷野家', '野家𠮷', '家𠮷野']);
  expect(Array.from(trigramsOf('ёжик abc', 'ascii'), (trigram) => trigram.text)).toEqual(['abc']);
  expect(Array.from(trigramsOf('abc', 'none'))).toEqual([]);
});

test('the rarest trigrams are chosen, in the order of the term, until few candidates are left', () => {
  const frequencyOf = shares({ the: 0.5, her: 0.3, erm: 0.02, rmo: 0.01, mos: 0.1, ost: 0.2, sta: 0.3, tat: 0.05 });
  const { parts, share } = rarePartsOf('thermostat', 'unicode', frequencyOf);
  expect(parts).toEqual(['ermo', 'tat']);
  expect(share).toBe(0.01);
});

test('overlapping trigrams form one part, and adjacent trigrams are separate parts', () => {
  expect(rarePartsOf('abcxyz', 'unicode', shares({ bcx: 1, cxy: 1 })).parts).toEqual(['abc', 'xyz']);
  expect(rarePartsOf('abcde', 'unicode', shares({ bcd: 1 })).parts).toEqual(['abcde']);
});

test('if all trigrams are frequent, the whole term is used', () => {
  expect(rarePartsOf('is on the', 'unicode', shares({ the: 0.5 }))).toEqual({ parts: [], share: 0.5 });
});

test('a term without trigrams has no parts, and may occur in every product', () => {
  expect(rarePartsOf('c++', 'unicode', shares({}))).toEqual({ parts: [], share: 1 });
});

test('a repeated trigram in the term does not narrow the search further', () => {
  expect(rarePartsOf('aaaaaa', 'unicode', shares({ aaa: 0.01 }))).toEqual({ parts: [], share: 0.01 });
});

test('at most five trigrams are used, even if the sixth would narrow more', () => {
  // Five trigrams leave 19 of 100,000 products, which is too many; six would leave 3.
  expect(rarePartsOf('abcdefgh', 'unicode', () => 0.18)).toEqual({ parts: [], share: 0.18 });
});

test('the parts occur in the term in order', () => {
  const term = 'aaaa-bcbcbc 東京都東京都';
  const { parts } = rarePartsOf(term, 'unicode', shares({}));
  let end = 0;
  for (const part of parts) {
    const start = term.indexOf(part, end);
    expect(start).toBeGreaterThanOrEqual(end);
    end = start + part.length;
  }
  expect(parts.length).toBeGreaterThan(0);
});
