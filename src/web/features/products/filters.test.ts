import { expect, test } from 'vitest';
import { listHref, readFilters } from './filters.ts';

const read = (query: string) => readFilters(new URLSearchParams(query));

test('what an address does not say, or says wrongly, narrows nothing', () => {
  expect(read('')).toEqual({});
  expect(read('q=%20&tag=&sort=best&page=3&utm_source=x')).toEqual({});
});

test('a term is trimmed and cut to what the server takes, by code points', () => {
  expect(read(`q=%20${'%F0%9F%8C%8A'.repeat(201)}`).q).toBe('🌊'.repeat(200));
  expect(read('q=a%00b').q).toBe('ab');
});

test('a later page keeps the search, and its number', () => {
  const filters = read('q=a%26b&tag=c%2B%2B&sort=top&cursor=abc&page=3');
  expect(filters).toEqual({ q: 'a&b', tag: 'c++', sort: 'top', cursor: 'abc', page: 3 });
  expect(read(listHref(filters).slice(2))).toEqual(filters);
  expect(read('cursor=abc&page=0').page).toBe(2);
});

test('no filter at all is the home page', () => {
  expect(listHref({})).toBe('/');
});
