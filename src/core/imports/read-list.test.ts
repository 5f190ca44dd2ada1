import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitList } from './read-list.ts';

test.each([
  ['a, b;c|d\ne', ['a', 'b', 'c', 'd', 'e']],
  ['["a, b", "c"]', ['a, b', 'c']],
  ['[beta], tools', ['[beta]', 'tools']],
  [' ,, a ,', ['a']],
  ['https://x.example/a,b;c, /pictures/d.png', ['https://x.example/a,b;c', '/pictures/d.png']],
  ['a.png,\n\n https://x.example/b', ['a.png', 'https://x.example/b']],
  ['https://x.example/a;,https://x.example/b', ['https://x.example/a;', 'https://x.example/b']],
])('%j is the list %j', (text, list) => {
  expect(splitList(text)).toEqual(list);
});

test('a list of addresses is split as one expression would do it', () => {
  const byExpression = (text: string) =>
    text
      .trim()
      .split(/[,;|\n]\s*(?=https?:\/\/|\/)/)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const pieces = fc.constantFrom(',', ';', '|', '\n', ' ', '/', 'a', 'https://b');
  fc.assert(
    fc.property(fc.array(pieces), (drawn) => {
      const text = `${drawn.join('')}https://c`;
      expect(splitList(text)).toEqual(byExpression(text));
    }),
    { numRuns: 2_000 },
  );
});

test('a million line breaks take no longer than they are', () => {
  const blanks = '\n'.repeat(1_000_000);
  expect(splitList(`https://a.example/${blanks}b${blanks}https://c.example/`)).toHaveLength(2);
});
