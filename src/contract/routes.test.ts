import { expect, test } from 'vitest';
import * as paths from './paths.ts';
import { matchRoute, withLanguage } from './routes.ts';

test.each([
  ['/', { name: 'home' }],
  ['/product/harbour', { name: 'product', id: 'harbour' }],
  [paths.product('a b'), { name: 'product', id: 'a b' }],
  ['/product/%E0', { name: 'notFound' }],
  ['/product/harbour/', { name: 'notFound' }],
  ['/product/', { name: 'notFound' }],
  ['/Product/harbour', { name: 'notFound' }],
  ['/product/harbour/comments', { name: 'notFound' }],
  ['//', { name: 'notFound' }],
  ['/about', { name: 'notFound' }],
])('the path %s leads to the screen %o', (pathname, match) => {
  expect(matchRoute(pathname)).toEqual(match);
});

test.each([
  ['/', '/?lang=de'],
  ['/?q=a', '/?q=a&lang=de'],
  ['/product/git#comments', '/product/git?lang=de#comments'],
  ['/product/git?comments=b#comments', '/product/git?comments=b&lang=de#comments'],
])('the German URL of %s is %s', (address, german) => {
  expect(withLanguage(address, 'de')).toBe(german);
  expect(withLanguage(address, undefined)).toBe(address);
});
