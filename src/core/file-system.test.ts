import { expect, test } from 'vitest';
import { readOnlyAdvice } from './file-system.ts';

test.each([
  ['EROFS', /^ .*ReadWritePaths=.*\.$/],
  ['EACCES', /^$/],
])('an error with the code %s gets advice about systemd only if the folder is read-only', (code, advice) => {
  expect(readOnlyAdvice(Object.assign(new Error(), { code }))).toMatch(advice);
});
