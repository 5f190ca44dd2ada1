import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { THEME_COLOURS, THEME_STORAGE_KEY } from './theme.tsx';

test('the head script and other tabs read the storage key that the theme switch writes', () => {
  const script = readFileSync(new URL('../head-script.ts', import.meta.url), 'utf8');
  const deferred = readFileSync(new URL('../routes/layout/deferred-features.tsx', import.meta.url), 'utf8');
  for (const code of [script, deferred]) expect(code).toContain(`getItem('${THEME_STORAGE_KEY}')`);
  expect(deferred).toContain(`key === '${THEME_STORAGE_KEY}'`);
});

test('the head script imports nothing', () => {
  const script = readFileSync(new URL('../head-script.ts', import.meta.url), 'utf8');
  expect(script).not.toMatch(/^import /m);
});

test('the theme colours match the header and the server-rendered page', () => {
  const document = readFileSync(new URL('../../server/pages/document.ts', import.meta.url), 'utf8');
  const tokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
  expect(tokens).toContain(`--surface: light-dark(${THEME_COLOURS.light}, ${THEME_COLOURS.dark})`);
  for (const [theme, colour] of Object.entries(THEME_COLOURS)) {
    expect(document).toContain(`media="(prefers-color-scheme: ${theme})" content="${colour}"`);
  }
});
