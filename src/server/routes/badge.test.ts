import { join } from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BadgeTheme } from '../../contract/paths/badge.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { createTextWidth, renderBadge, type TextWidth } from './badge.ts';

let widthOf: TextWidth;

beforeAll(() => {
  widthOf = createTextWidth(PACKAGE_FOLDERS.cardFonts);
});

const badge = (content: Partial<Parameters<typeof renderBadge>[0]> = {}, theme: BadgeTheme = 'light') =>
  renderBadge({ site: { name: 'Groundswell' }, productName: 'Git', upvotes: 1234, ...content }, theme, widthOf);
const titleOf = (svg: string) => /<title id="title">([^<]*)<\/title>/.exec(svg)?.[1];
const widthOfBadge = (svg: string) => Number(/^<svg [^>]*?width="(\d+)"/.exec(svg)?.[1]);

test('a badge has an accessible title with the product, its upvotes and the site', () => {
  expect(titleOf(badge())).toBe('Git: 1,234 upvotes on Groundswell');
  expect(titleOf(badge({ upvotes: 1 }))).toBe('Git: 1 upvote on Groundswell');
  expect(badge()).toMatch(/^<svg [^>]*role="img" aria-labelledby="title"/);
});

test('a badge escapes XML and contains no characters that XML does not allow', () => {
  const svg = badge({ productName: '<b>"R&D"</b>\u0000\ud800\'', site: { name: ']]><script>alert(1)</script>' } });
  expect(titleOf(svg)).toMatch(
    /^&lt;b&gt;&quot;R&amp;D&quot;&lt;\/b&gt; &apos;: 1,234 upvotes on \]\]&gt;&lt;script&gt;/,
  );
  expect(svg).not.toMatch(/<script|[\p{Cc}\p{Cs}]/u);
});

test('without upvotes, a badge shows the arrow and no count', () => {
  const svg = badge({ upvotes: 0 });
  expect(titleOf(svg)).toBe('Git on Groundswell');
  expect(svg.match(/<text /g)).toHaveLength(2);
  expect(svg).not.toContain('>0<');
  expect(svg).toContain('<path d="M4.5 11.5 10 5.5l5.5 6"/>');
});

test('every text of a badge has its measured width, whatever the font of the viewer is', () => {
  for (const text of badge().matchAll(/<text [^>]*>/g)) expect(text[0]).toMatch(/ textLength="[1-9][\d.]*" /);
  expect(badge().match(/<text /g)).toHaveLength(3);
});

test('the measured width of a text is its width on the canvas', () => {
  GlobalFonts.registerFromPath(join(PACKAGE_FOLDERS.cardFonts, 'noto-sans-bold.ttf'), 'Badge test');
  const context = createCanvas(10, 10).getContext('2d');
  context.font = '1000px "Badge test"';
  for (const text of ['A', 'g', '0', '.', 'Ω', 'ж']) {
    expect(widthOf(text, 1_000, 'bold'), text).toBeCloseTo(context.measureText(text).width, -1);
  }
  // Noto Sans lacks the first and the last of these characters.
  expect(widthOf('波x\u{10fffd}', 1_000, 'bold')).toBeCloseTo(1_600 + widthOf('x', 1_000, 'bold'));
});

test('the width of a badge grows with the content, up to a limit', () => {
  expect(widthOfBadge(badge({ upvotes: 123_456_789 }))).toBeGreaterThan(widthOfBadge(badge({ upvotes: 0 })));
  expect(widthOfBadge(badge({ site: { name: '波の発見サイト' } }))).toBeGreaterThan(
    widthOfBadge(badge({ site: { name: 'Go' } })),
  );
  expect(widthOfBadge(badge({ site: { name: 'W'.repeat(5_000) } }))).toBeLessThan(900);
});

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test('the text of a badge has sufficient contrast', () => {
    const colours = [...badge({}, theme).matchAll(/fill="(#[0-9a-f]{6})"/g)].map((match) => match[1] ?? '');
    const [ground, lead, name, vote, count] = [colours[0], ...colours.slice(-4)] as [
      string,
      string,
      string,
      string,
      string,
    ];
    for (const [ink, behind] of [
      [lead, ground],
      [name, ground],
      [count, vote],
    ] as const) {
      expect(contrast(ink, behind), `${ink} on ${behind}`).toBeGreaterThanOrEqual(6.5);
    }
  });
});

/** Returns the contrast ratio as defined in WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return red * 0.2126 + green * 0.7152 + blue * 0.0722;
}
