import { expect, test } from 'vitest';
import * as paths from '../../../contract/paths.ts';
import { pageNumberOf, readFilters } from './filters.ts';

const read = (query: string) => readFilters(new URLSearchParams(query));

test('missing or invalid parameters do not filter', () => {
  expect(read('')).toEqual({});
  expect(read('q=%20&tag=&sort=best&page=3&utm_source=x')).toEqual({});
});

test("a search term is trimmed, truncated to the server's limit of code points, and stripped of NUL characters", () => {
  expect(read(`q=%20${'%F0%9F%8C%8A'.repeat(201)}`).q).toBe('🌊'.repeat(200));
  expect(read('q=a%00b').q).toBe('ab');
});

test('the URL of a later page has the search and the cursor of the page', () => {
  const filters = read('q=a%26b&tag=c%2B%2B&sort=top&cursor=abc.40');
  expect(filters).toEqual({ q: 'a&b', tag: 'c++', sort: 'top', cursor: 'abc.40' });
  expect(read(paths.list(filters).slice(2))).toEqual(filters);
  expect(pageNumberOf(filters)).toBe(3);
  expect(pageNumberOf({})).toBeUndefined();
});

test('a list without filters has the URL of the home page', () => {
  expect(paths.list({})).toBe('/');
});
