import { expect, test } from 'vitest';
import { readOnlyAdvice } from './file-system.ts';

test.each([
  ['EROFS', /^ .*ReadWritePaths=.*\.$/],
  ['EACCES', /^$/],
])('the error %s of a folder gets the right advice', (code, advice) => {
  expect(readOnlyAdvice(Object.assign(new Error(), { code }))).toMatch(advice);
});
