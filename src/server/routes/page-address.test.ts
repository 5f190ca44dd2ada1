import { describe, expect, test } from 'vitest';
import { homeAddress, logAddress, productAddress } from './pages.ts';

const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const NEWEST_KEYS = cursorOf('newest', '2026-01-01T00:00:00.000Z', 'git');
const NEWEST = `${NEWEST_KEYS}.20`;
const TOP = `${cursorOf('top', 3, 'git')}.40`;
const BEST = cursorOf('best', 3, '2026-01-01T00:00:00.000Z', '5a3b1e00-0000-4000-8000-000000000001');

const home = (query: string) => homeAddress(new URLSearchParams(query));

describe('the list', () => {
  test.each([
    ['', '/'],
    ['utm_source=mail&fbclid=1', '/'],
    ['q=&tag=&sort=&cursor=', '/'],
    ['sort=top&q=git', '/?q=git&sort=top'],
    ['tag=c%2B%2B', '/?tag=c%2B%2B'],
    ['q=%F0%9F%9A%80', '/?q=%F0%9F%9A%80'],
    [`cursor=${NEWEST}`, `/?cursor=${NEWEST}`],
    [`cursor=${TOP}&sort=top&page=7`, `/?sort=top&cursor=${TOP}`],
    ['q=one&q=two', '/?q=one'],
  ])('?%s is reduced to its valid parameters in a fixed order: %s', (query, path) => {
    expect(home(query)).toEqual({ path, needsRedirect: false });
  });

  test.each([
    ['an unknown sort order', 'sort=best&q=git', '/?q=git'],
    ['a sort order with the name of an inherited property', 'sort=constructor', '/'],
    ['a search of more than 200 characters', `q=${'x'.repeat(201)}`, '/'],
    ['a tag of more than 60 characters', `tag=${'x'.repeat(61)}&q=a`, '/?q=a'],
    ['a search with a NUL character', 'q=a%00b', '/'],
    ['a forged cursor', 'cursor=nonsense', '/'],
    ['a cursor of another sort', `sort=top&cursor=${NEWEST}`, '/?sort=top'],
    ['a cursor without a position', `cursor=${NEWEST_KEYS}`, '/'],
    ['a cursor with a position that is not a number', `cursor=${NEWEST_KEYS}.020`, '/'],
  ])('%s is left out and needs a redirect', (_what, query, path) => {
    expect(home(query)).toEqual({ path, needsRedirect: true });
  });

  test('the limit of 200 characters counts code points, not UTF-16 code units', () => {
    expect(home(`q=${encodeURIComponent('🚀'.repeat(200))}`).needsRedirect).toBe(false);
    expect(home(`q=${encodeURIComponent('🚀'.repeat(201))}`).needsRedirect).toBe(true);
  });
});

describe('the moderation log', () => {
  const MODERATION = cursorOf('moderation', '2026-01-01T00:00:00.000Z', '5a3b1e00-0000-4000-8000-000000000001');

  test.each([
    ['log', '/?log', false],
    ['log=1&utm_source=mail', '/?log', false],
    [`log&cursor=${MODERATION}`, `/?log&cursor=${MODERATION}`, false],
    [`log&cursor=${NEWEST}`, '/?log', true],
  ])('?%s is normalized to %s', (query, path, needsRedirect) => {
    expect(logAddress(new URLSearchParams(query))).toEqual({ path, needsRedirect });
  });
});

describe('a product', () => {
  test('the comments on a product may start at a cursor in the order `best`', () => {
    expect(productAddress('git', new URLSearchParams(`comments=${BEST}`))).toEqual({
      path: `/product/git?comments=${BEST}`,
      needsRedirect: false,
    });
  });

  test('an invalid cursor of comments is left out and needs a redirect', () => {
    expect(productAddress('git', new URLSearchParams('comments=1'))).toEqual({
      path: '/product/git',
      needsRedirect: true,
    });
  });

  test('an id with special characters stays encoded, so it cannot change the path', () => {
    expect(productAddress('a/../b?c', new URLSearchParams()).path).toBe('/product/a%2F..%2Fb%3Fc');
  });
});
