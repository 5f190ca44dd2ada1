import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GlobalFonts } from '@napi-rs/canvas';
import { create, type Font } from 'fontkitten';

/** Font families with their files. The first family that has a character draws it. */
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

/** Registers the bundled fonts with the canvas. `canShow` returns whether any of them contains a character. */
export function loadCardFonts(folder: string): { canShow(codePoint: number): boolean } {
  const fonts: Font[] = [];
  for (const [family, ...names] of FAMILIES) {
    for (const name of names) {
      const path = join(folder, `${name}.ttf`);
      // Registering by path lets the canvas map the file into memory and load only the parts that it uses.
      if (!GlobalFonts.registerFromPath(path, family)) throw new Error(`Cannot load the font ${path}`);
    }
    // All weights of a family cover the same characters, so one file is enough.
    const font = create(readFileSync(join(folder, `${names[0]}.ttf`)));
    if (!font.isCollection) fonts.push(font);
  }
  return { canShow: (codePoint) => fonts.some((font) => font.hasGlyphForCodePoint(codePoint)) };
}

/** The maximum number of UTF-16 code units of a text that are measured; no card has room for more. */
const MAX_CONSIDERED = 1_200;

const ELLIPSIS = '…';

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const words = new Intl.Segmenter('und', { granularity: 'word' });

/** Characters that only modify their neighbours: joiners, variation selectors, flag tags, skin tones. */
const INVISIBLE = /^(?:\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0020}-\u{e007f}]|[\u{1f3fb}-\u{1f3ff}])$/u;
const CONTROLS =
  /[\p{Cc}\p{Cs}\p{Co}\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0\ufeff\ufff9-\uffff]/gu;
const KEYCAP = /([0-9#*])\ufe0f?\u20e3/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Reduces a text to one line that the fonts can show. Control characters and direction overrides are removed; a
 * character that no font has is replaced by its compatibility form (NFKC), or dropped.
 */
export function drawableText(text: string, canShow: (codePoint: number) => boolean): string {
  const isShown = (characters: string) =>
    [...characters].every((each) => INVISIBLE.test(each) || canShow(each.codePointAt(0) ?? 0));
  let drawable = '';
  // Four times the maximum, because much of the text may be removed below.
  const cut = text.slice(0, MAX_CONSIDERED * 4);
  const line = cut.replaceAll(/\s+/gu, ' ').replaceAll(CONTROLS, '').replaceAll(KEYCAP, '$1');
  for (const { segment } of graphemes.segment(line)) {
    if (drawable.length > MAX_CONSIDERED) break;
    if (isShown(segment)) drawable += segment;
    else {
      const plain = segment.normalize('NFKC');
      drawable += isShown(plain) ? plain : [...segment].filter(isShown).join('');
    }
  }
  return drawable.replaceAll(/ {2,}/g, ' ').trim();
}

/** Returns whether the first letter of a text belongs to a right-to-left script. */
export function isRightToLeft(text: string): boolean {
  const first = /\p{L}/u.exec(text)?.[0];
  return first !== undefined && RIGHT_TO_LEFT.test(first);
}

/** Returns the text up to the first end of a sentence after 40 characters, or the whole text. */
export function firstSentence(text: string): string {
  const [sentence] = /^.{40,}?(?:[.!?](?=\s)|[。！？])/su.exec(text) ?? [text];
  return sentence;
}

/**
 * Breaks a text into lines of at most `maxWidth`. Lines break between words, which a dictionary finds in scripts
 * without spaces. Only a word that is wider than a line is split. An ellipsis marks truncated text.
 */
export function wrapText(
  text: string,
  { maxWidth, maxLines, measure }: { maxWidth: number; maxLines: number; measure(text: string): number },
): { lines: string[]; isCut: boolean } {
  const fits = (line: string) => measure(line.trimEnd()) <= maxWidth;
  const lines: string[] = [];
  let line = '';
  const units = breakable(text);
  while (units.length > 0) {
    const unit = units.shift() ?? '';
    if (fits(line + unit)) line += unit;
    else if (line === '') {
      const [head, tail] = splitAt(unit, fits);
      line = head;
      if (tail !== '') units.unshift(tail);
    } else units.unshift(unit);
    const isFull = units[0] !== undefined && !fits(line + units[0]);
    if (!isFull) continue;
    if (lines.length + 1 === maxLines)
      return { lines: [...lines, ellipsize(line + units.join(''), fits)], isCut: true };
    lines.push(line.trimEnd());
    line = '';
  }
  if (line.trim() !== '') lines.push(line.trimEnd());
  return { lines, isCut: false };
}

/** Splits a text where a line may break. Punctuation stays with the word that it touches. */
function breakable(text: string): string[] {
  const pieces: string[] = [];
  let last: { segment: string; isWordLike: boolean } | undefined;
  for (const { segment, isWordLike = false } of words.segment(text)) {
    const isNew =
      last === undefined ||
      (/\s$/.test(last.segment) && !/^\s/.test(segment)) ||
      (isWordLike && (last.isWordLike || /[-/、。，！？；：）」』】》・]$/.test(last.segment)));
    if (isNew) pieces.push(segment);
    else pieces.push((pieces.pop() ?? '') + segment);
    last = { segment, isWordLike };
  }
  return pieces;
}

/** Returns the longest prefix that fits (but at least one character) and the rest of the text. */
function splitAt(text: string, fits: (line: string) => boolean): [head: string, tail: string] {
  const characters = [...graphemes.segment(text)].map(({ segment }) => segment);
  let [low, high] = [1, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(characters.slice(0, middle).join(''))) low = middle;
    else high = middle - 1;
  }
  return [characters.slice(0, low).join(''), characters.slice(low).join('')];
}

function ellipsize(text: string, fits: (line: string) => boolean): string {
  const [head] = splitAt(text, (line) => fits(line.trimEnd() + ELLIPSIS));
  return head.replace(/[\s\p{Po}\p{Pd}]+$/u, '') + ELLIPSIS;
}
