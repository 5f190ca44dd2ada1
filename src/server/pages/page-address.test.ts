import { describe, expect, test } from 'vitest';
import { homeAddress, productAddress } from './page-address.ts';

const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const NEWEST = cursorOf('newest', '2026-01-01T00:00:00.000Z', 'git');
const TOP = cursorOf('top', 3, 'git');
const BEST = cursorOf('best', 3, '2026-01-01T00:00:00.000Z', '5a3b1e00-0000-4000-8000-000000000001');

const home = (query: string) => homeAddress(new URLSearchParams(query));

describe('the list', () => {
  test.each([
    ['', '/'],
    ['utm_source=mail&fbclid=1', '/'],
    ['q=&tag=&sort=&cursor=&page=', '/'],
    ['sort=top&q=git', '/?q=git&sort=top'],
    ['tag=c%2B%2B', '/?tag=c%2B%2B'],
    ['q=%F0%9F%9A%80', '/?q=%F0%9F%9A%80'],
    [`cursor=${NEWEST}&page=2`, `/?cursor=${NEWEST}&page=2`],
    [`page=3&cursor=${TOP}&sort=top`, `/?sort=top&cursor=${TOP}&page=3`],
    ['q=one&q=two', '/?q=one'],
  ])('?%s is one address with only what means something, in one order: %s', (query, path) => {
    expect(home(query)).toEqual({ path, faulty: false });
  });

  test.each([
    ['a sort that there is not', 'sort=best&q=git', '/?q=git'],
    ['a name that every object has', 'sort=constructor', '/'],
    ['a search of more than 200 characters', `q=${'x'.repeat(201)}`, '/'],
    ['a tag of more than 60 characters', `tag=${'x'.repeat(61)}&q=a`, '/?q=a'],
    ['NUL', 'q=a%00b', '/'],
    ['a forged cursor', 'cursor=nonsense', '/'],
    ['a cursor of another sort', `sort=top&cursor=${NEWEST}`, '/?sort=top'],
    ['a page number that is none', `cursor=${NEWEST}&page=0`, `/?cursor=${NEWEST}`],
    ['a page number without its cursor', 'page=2', '/'],
  ])('%s is left out and marked faulty', (_what, query, path) => {
    expect(home(query)).toEqual({ path, faulty: true });
  });

  test('200 characters are counted as a person counts them, not as UTF-16', () => {
    expect(home(`q=${encodeURIComponent('🚀'.repeat(200))}`).faulty).toBe(false);
    expect(home(`q=${encodeURIComponent('🚀'.repeat(201))}`).faulty).toBe(true);
  });
});

describe('a product', () => {
  test('its discussion may start at a cursor, best first', () => {
    expect(productAddress('git', new URLSearchParams(`comments=${BEST}`))).toEqual({
      path: `/product/git?comments=${BEST}`,
      faulty: false,
    });
  });

  test('a cursor that is none is left out and marked faulty', () => {
    expect(productAddress('git', new URLSearchParams('comments=1'))).toEqual({ path: '/product/git', faulty: true });
  });

  test('an id that needs it stays encoded, so that it cannot change the path', () => {
    expect(productAddress('a/../b?c', new URLSearchParams()).path).toBe('/product/a%2F..%2Fb%3Fc');
  });
});
