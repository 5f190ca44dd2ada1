import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GlobalFonts } from '@napi-rs/canvas';
import { type FontFile, readFontFile } from './font-file.ts';

/** Each family with its files. A character is drawn in the first family that has it. */
const FAMILIES: readonly (readonly [family: string, ...files: string[]])[] = [
  ['Card Display', 'funnel-display-800'],
  ['Card Sans', 'noto-sans-regular', 'noto-sans-bold'],
  ['Card Arabic', 'noto-sans-arabic-regular', 'noto-sans-arabic-bold'],
  ['Card Hebrew', 'noto-sans-hebrew-regular', 'noto-sans-hebrew-bold'],
  ['Card Devanagari', 'noto-sans-devanagari-regular', 'noto-sans-devanagari-bold'],
  ['Card Thai', 'noto-sans-thai-regular', 'noto-sans-thai-bold'],
  ['Card Bengali', 'noto-sans-bengali-regular'],
  ['Card Tamil', 'noto-sans-tamil-regular'],
  ['Card Armenian', 'noto-sans-armenian-regular'],
  ['Card Georgian', 'noto-sans-georgian-regular'],
  ['Card Emoji', 'emoji'],
  ['Card Hangul', 'hangul-bold'],
  ['Card Han Kana', 'han-kana'],
  ['Card Symbols', 'noto-sans-symbols-regular'],
  ['Card Symbols 2', 'noto-sans-symbols2-regular'],
  ['Card Mathematics', 'noto-sans-math-regular'],
];

const fallbacks = FAMILIES.slice(1).map(([family]) => `"${family}"`);

export const DISPLAY_FACE = `"Card Display", ${fallbacks.join(', ')}`;
export const TEXT_FACE = fallbacks.join(', ');

/** Makes the bundled fonts known to the canvas, and nothing else. */
export function loadCardFonts(folder: string): { canShow(codePoint: number): boolean } {
  const files: FontFile[] = [];
  for (const [family, ...names] of FAMILIES) {
    for (const name of names) {
      const path = join(folder, `${name}.ttf`);
      // From the path: the file is mapped, and what no card needs of it never becomes memory.
      if (!GlobalFonts.registerFromPath(path, family)) throw new Error(`The font ${path} cannot be used`);
    }
    // All weights of a family have the same characters.
    files.push(readFontFile(readFileSync(join(folder, `${names[0]}.ttf`))));
  }
  return { canShow: (codePoint) => files.some((file) => file.has(codePoint)) };
}
