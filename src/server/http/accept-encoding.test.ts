import { expect, test } from 'vitest';
import { preferredEncoding } from './representations.ts';

test.each<[string | undefined, string, string]>([
  [undefined, 'identity', 'without the header, nothing is compressed'],
  ['', 'identity', 'an empty header names no encoding'],
  ['gzip, deflate, br', 'br', 'among equal weights, the best compression wins'],
  ['gzip, deflate, identity', 'gzip', 'among equal weights, any compression wins over none'],
  ['gzip, deflate', 'gzip', 'unsupported encodings are ignored'],
  ['deflate, zstd', 'identity', 'without a supported encoding, nothing is compressed'],
  ['br;q=0.5, gzip;q=0.9', 'gzip', 'the greatest weight wins'],
  ['br;q=0, gzip;q=0.1', 'gzip', 'weight 0 excludes an encoding'],
  ['GZIP', 'gzip', 'names are not case-sensitive'],
  ['*', 'br', 'a star stands for every encoding'],
  ['br;q=0, *', 'gzip', 'a star stands for every encoding that is not named'],
  ['*;q=0', 'identity', 'if everything is refused, the response is not encoded'],
  ['identity;q=0', 'identity', 'an encoding that was not accepted is never used'],
  ['identity;q=0, gzip;q=0.1', 'gzip', 'identity may be excluded'],
  ['identity;q=1, br;q=0.5', 'identity', 'identity may be preferred'],
  ['gzip ; q=0.8 , br ; q=0.2', 'gzip', 'spaces do not matter'],
  ['br;q=nonsense, gzip', 'gzip', 'a weight that is not a number counts as 0'],
])('the Accept-Encoding header %j selects %s: %s', (header, expected) => {
  expect(preferredEncoding(header)).toBe(expected);
});
