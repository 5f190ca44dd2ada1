import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCanvas, GlobalFonts } from '@napi-rs/canvas';
import { describe, expect, test } from 'vitest';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { readFontFile } from './font-file.ts';

const pathOf = (name: string) => join(PACKAGE_FOLDERS.cardFonts, `${name}.ttf`);

/** One font for each format of the map, and one with gaps in its segments. */
describe.each(['noto-sans-bold', 'funnel-display-800', 'emoji', 'han-kana'])('%s', (name) => {
  const font = readFontFile(readFileSync(pathOf(name)));

  test('is read as the canvas reads it', () => {
    GlobalFonts.registerFromPath(pathOf(name), `Test ${name}`);
    const context = createCanvas(10, 10).getContext('2d');
    context.font = `1000px "Test ${name}"`;
    const characters = [...'Ag0.Ωж波の🚀★'].filter((each) => font.has(each.codePointAt(0) ?? 0));
    expect(characters.length).toBeGreaterThan(0);
    for (const character of characters) {
      const advance = font.advance(character.codePointAt(0) ?? 0) ?? Number.NaN;
      expect(advance * 1000, character).toBeCloseTo(context.measureText(character).width, -1);
    }
  });
});

test('a character that a font lacks has no width', () => {
  const font = readFontFile(readFileSync(pathOf('noto-sans-bold')));
  expect([0x41, 0x416, 0x6ce2, 0x10fffd].map(font.has)).toEqual([true, true, false, false]);
  expect(font.advance(0x6ce2)).toBeUndefined();
});

test('what is no font is refused', () => {
  expect(() => readFontFile(Buffer.from('not a font at all'))).toThrow();
  expect(() => readFontFile(readFileSync(pathOf('noto-sans-bold')).subarray(0, 400))).toThrow();
});
