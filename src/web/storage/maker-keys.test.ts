import { expect, test } from 'vitest';
import { makerKeyIn } from './maker-keys.ts';

const KEY = 'abcDEF_-0123456789abcDEF_-0123456789abcDEF_';

test.each(['', '.', ')', '%20', '&utm_source=mail'])('the key of a maker link is found before ‘%s’', (end) => {
  expect(makerKeyIn(`#maker=${KEY}${end}`)).toBe(KEY);
});

test.each(['', '#comments', '#maker=', '#maker=short'])('the fragment ‘%s’ contains no maker key', (hash) => {
  expect(makerKeyIn(hash)).toBeUndefined();
});
