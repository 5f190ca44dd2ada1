import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FontFile, readFontFile } from '../cards/font-file.ts';

/** Characters that stand in a square of their own: CJK, Hangul, kana, full-width forms, emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\uff01-\uff60]/u;

/** Widths in parts of the size, of what Noto Sans lacks. */
const WIDE_ADVANCE = 1;
const OTHER_ADVANCE = 0.6;

/**
 * Measures text in the bundled Noto Sans, whose widths lie among those of what browsers have (Verdana is wider, Arial narrower). The
 * picture then holds any other font to the width that was measured.
 * @returns pixels for a text at a size in pixels.
 */
export function createTextWidth(
  fontFolder: string,
): (text: string, size: number, weight: 'regular' | 'bold') => number {
  const fonts = new Map<string, FontFile>();
  return (text, size, weight) => {
    let font = fonts.get(weight);
    if (font === undefined) {
      font = readFontFile(readFileSync(join(fontFolder, `noto-sans-${weight}.ttf`)));
      fonts.set(weight, font);
    }
    let ems = 0;
    for (const character of text) {
      const advance = font.advance(character.codePointAt(0) ?? 0);
      ems += advance ?? (WIDE.test(character) ? WIDE_ADVANCE : OTHER_ADVANCE);
    }
    return ems * size;
  };
}
