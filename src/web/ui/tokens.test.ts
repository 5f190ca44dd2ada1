import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrast } from '../../settings/accent.ts';

const TOKENS = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

const PAGE = ['paper', 'surface', 'surface-sunken'];

/** The minimum contrast of tokens with every background on which they are used: 7 (WCAG level AAA) for body text. */
const REQUIRED: [minimum: number, tokens: string[], backgrounds: string[]][] = [
  [7, ['ink', 'ink-soft'], PAGE],
  [7, ['foam'], ['deep', 'shallow']],
  [4.5, ['ink-quiet', 'sea', 'danger'], PAGE],
  [4.5, ['danger'], ['danger-soft']],
  [4.5, ['on-sun'], ['sun', 'sun-strong']],
  [3, ['line-strong'], PAGE],
];

/** Lists the pairs of colours whose contrast is too low. */
function lowContrasts(tokens: string): string[] {
  const colours = new Map(
    [...tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = '', light, dark]) => [
      name,
      { light, dark },
    ]),
  );
  const colourOf = (name: string, theme: 'light' | 'dark') => {
    const colour = colours.get(name)?.[theme];
    if (colour === undefined) throw new Error(`--${name} has no colours of the form #rrggbb`);
    return colour;
  };
  return REQUIRED.flatMap(([minimum, names, backgrounds]) =>
    (['light', 'dark'] as const).flatMap((theme) =>
      names.flatMap((name) =>
        backgrounds
          .filter((background) => contrast(colourOf(name, theme), colourOf(background, theme)) < minimum)
          .map((background) => `${theme}: --${name} on --${background}, below ${minimum}:1`),
      ),
    ),
  );
}

test('in both themes, body text has a contrast of 7:1, other text 4.5:1 and lines around controls 3:1', () => {
  expect(lowContrasts(TOKENS)).toEqual([]);
});

test('the check finds a colour whose contrast is slightly too low', () => {
  const paler = TOKENS.replace(/--ink-soft: light-dark\(#\w{6}/, '--ink-soft: light-dark(#40566c');
  expect(paler).not.toBe(TOKENS);
  expect(lowContrasts(paler)).toEqual(['light: --ink-soft on --surface-sunken, below 7:1']);
});
