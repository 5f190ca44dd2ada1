import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { accentStyle, BACKGROUNDS, contrast, readAccent } from './accent.ts';

describe('refused colours', () => {
  test.each([
    ['#ffcc00', '#ffcc00 has a contrast of 1.5:1 on white; 4.5:1 is needed, so choose a darker colour'],
    ['#FF0000', '#ff0000 has a contrast of 3.9:1 on white; 4.5:1 is needed, so choose a darker colour'],
    ['#777777', '#777777 has a contrast of 4.4:1 on white; 4.5:1 is needed, so choose a darker colour'],
    ['teal', "'teal' is not a colour of the form #rrggbb, such as #0b6e4f"],
    ['#0b6', "'#0b6' is not a colour of the form #rrggbb, such as #0b6e4f"],
    ['#0b6e4f}body{}', "'#0b6e4f}body{}' is not a colour of the form #rrggbb, such as #0b6e4f"],
  ])('the colour %j is refused, and the message gives the reason', (text, message) => {
    expect(() => readAccent(text)).toThrow(message);
  });
});

describe('accepted colours', () => {
  test('an accepted green is the accent of the light theme, and the accent of the dark theme is also green', () => {
    const { light, dark } = readAccent('#0B6E4F');
    expect(light).toMatchObject({ sun: '#0b6e4f', onSun: '#ffffff' });
    const [red = 0, green = 0, blue = 0] = (dark.sun.match(/[0-9a-f]{2}/g) ?? []).map((each) =>
      Number.parseInt(each, 16),
    );
    expect(green).toBeGreaterThan(Math.max(red, blue));
  });

  // Black, the lightest accepted grey, and saturated colours of all hues.
  const extremes = ['#000000', '#767676', '#0000ff', '#ee0000', '#008700', '#8b008b', '#806600', '#007c7c', '#c2410c'];
  test.each(extremes)('%s is readable in both themes and on badges', (text) => {
    const accent = readAccent(text);
    for (const theme of ['light', 'dark'] as const) {
      const { sun, sunStrong, sunSoft, onSun } = accent[theme];
      for (const colour of [sun, sunStrong, sunSoft, onSun]) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
      expect(contrast(sun, onSun)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(sunStrong, onSun)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(sunStrong, sunSoft)).toBeGreaterThanOrEqual(7);
      for (const background of Object.values(BACKGROUNDS[theme]))
        expect(contrast(sun, background)).toBeGreaterThanOrEqual(3);
      expect(sunStrong).not.toBe(sun);
    }
  });

  test('the style of an accepted colour sets the four tokens for both themes', () => {
    expect(accentStyle(readAccent('#c2410c'))).toMatch(
      /^:root:root\{--sun:light-dark\(#c2410c,#[0-9a-f]{6}\);--sun-strong:light-dark\(.{15}\);--sun-soft:light-dark\(.{15}\);--on-sun:light-dark\(#ffffff,.{7}\)\}$/,
    );
  });
});

test('the backgrounds for contrast checks match tokens.css', async () => {
  const tokens = await readFile(new URL('../web/ui/tokens.css', import.meta.url), 'utf8');
  for (const name of ['surface', 'paper'] as const) {
    expect(tokens).toContain(`--${name}: light-dark(${BACKGROUNDS.light[name]}, ${BACKGROUNDS.dark[name]});`);
  }
});

test('contrast is calculated as WCAG defines it', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#ffffff', '#767676')).toBeCloseTo(4.54, 2);
});
