import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDate, splitList } from './read-values.ts';

test.each([
  ['a, b;c|d\ne', ['a', 'b;c|d\ne']],
  ['["a, b", "c"]', ['a, b', 'c']],
  ['{"name": "Ann", "role": "CEO"}', [{ name: 'Ann', role: 'CEO' }]],
  ['[beta], tools', ['[beta]', 'tools']],
  ['{}', []],
  ['{beta}, tools', ['{beta}', 'tools']],
  [' ,, a ,', ['a']],
  ['https://x.example/a,b;c, /pictures/d.png', ['https://x.example/a,b;c', '/pictures/d.png']],
  ['/a.png,,https://x.example/b', ['/a.png,', 'https://x.example/b']],
  ['a.png,\n\n https://x.example/b', ['a.png', 'https://x.example/b']],
  ['https://x.example/a;,https://x.example/b', ['https://x.example/a;', 'https://x.example/b']],
])('%j is parsed as the list %j', (text, list) => {
  expect(splitList(text)).toEqual(list);
});

test.each([
  [';', 'a, b; c', ['a, b', 'c']],
  ['|', 'https://x.example/a|b|https://x.example/c', ['https://x.example/a|b', 'https://x.example/c']],
  [' - ', 'a-b - c', ['a-b', 'c']],
  [';', '["a;b"]', ['a;b']],
])('with the separator %j, %j is parsed as the list %j', (separator, text, list) => {
  expect(splitList(text, separator)).toEqual(list);
});

test('a list of URLs is split as a simple regular expression would split it', () => {
  const byExpression = (text: string) =>
    text
      .trim()
      .split(/,\s*(?=https?:\/\/|\/)/)
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

test('a text with millions of line breaks is split quickly', () => {
  const blanks = '\n'.repeat(2 ** 22);
  // A split whose time grows with the square of the length would take hours.
  expect(splitList(`https://a.example/${blanks}b,${blanks}https://c.example/`)).toHaveLength(2);
});

test.each([
  ['2011', '2011-01-01T00:00:00.000Z'],
  ['2011-03', '2011-03-01T00:00:00.000Z'],
  ['2023-01-22', '2023-01-22T00:00:00.000Z'],
  ['2023/1/5', '2023-01-05T00:00:00.000Z'],
  ['March 2021', '2021-03-01T00:00:00.000Z'],
  ['January 22, 2023', '2023-01-22T00:00:00.000Z'],
  ['22nd Jan. 2023', '2023-01-22T00:00:00.000Z'],
  ['Sept  9 2020', '2020-09-09T00:00:00.000Z'],
  ['2023-01-22T10:00', '2023-01-22T10:00:00.000Z'],
  ['2023-01-22T10:00:30.123456Z', '2023-01-22T10:00:30.123Z'],
  ['2023-01-22T00:30:00+05:30', '2023-01-21T19:00:00.000Z'],
  ['2023-01-22 10:00:00-08', '2023-01-22T18:00:00.000Z'],
  ['Sun, 22 Jan 2023 10:00:00 GMT', '2023-01-22T10:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01', '0001-01-01T00:00:00.000Z'],
])('the date %s is read as %s', (text, instant) => {
  expect(readDate(text)).toBe(instant);
});

test.each([
  ...['2023-02-30', 'February 30, 2023', '2023-02-29', '2023-13-01', '2023-00-10', '0000-01-01'],
  ...[
    '2023-01-22T24:00',
    '2023-01-22T10:60',
    '2023-01-22T10:00:60Z',
    '2023-01-22T10:00+15:00',
    '0001-01-01T00:00+01:00',
  ],
])('%s is a date or time that does not exist', (text) => {
  expect(readDate(text)).toBe('impossible');
});

test.each(['', 'Today', 'Q3 2024', '01/22/2023', '20230122', '2023-01-22T', 'March 22', '12023-01-01'])(
  '%j is not a date',
  (text) => {
    expect(readDate(text)).toBeUndefined();
  },
);
