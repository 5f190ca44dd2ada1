import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { THEME_STORAGE_KEY } from './theme.ts';

test('the script before the first paint reads the key that the switch writes, and imports nothing', () => {
  const script = readFileSync(new URL('../theme.ts', import.meta.url), 'utf8');
  expect(script).toContain(`getItem('${THEME_STORAGE_KEY}')`);
  expect(script).not.toMatch(/^import /m);
});
