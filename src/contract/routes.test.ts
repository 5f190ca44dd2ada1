import { expect, test } from 'vitest';
import { matchRoute } from './routes.ts';

test.each([
  ['/', { name: 'home' }],
  ['/product/harbour', { name: 'product', id: 'harbour' }],
  ['/product/a%20b', { name: 'product', id: 'a b' }],
  ['/product/%E0', { name: 'product', id: '%E0' }],
  ['/product/harbour/', { name: 'notFound' }],
  ['/product/', { name: 'notFound' }],
  ['/Product/harbour', { name: 'notFound' }],
  ['/product/harbour/comments', { name: 'notFound' }],
  ['//', { name: 'notFound' }],
  ['/about', { name: 'notFound' }],
])('%s is the screen %o', (pathname, match) => {
  expect(matchRoute(pathname)).toEqual(match);
});
