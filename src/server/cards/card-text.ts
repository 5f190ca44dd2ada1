/** Text far beyond what a card holds is cut before anything is measured. */
const MAX_CONSIDERED = 1_200;

const ELLIPSIS = '…';

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
const words = new Intl.Segmenter('und', { granularity: 'word' });

/** What only changes what stands beside it: joiners, variation selectors, tags of flags, tones of skin. */
const INVISIBLE = /^(?:\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0020}-\u{e007f}]|[\u{1f3fb}-\u{1f3ff}])$/u;
const CONTROLS =
  /[\p{Cc}\p{Cs}\p{Co}\u00ad\u061c\u115f\u1160\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\uffa0\ufeff\ufff9-\uffff]/gu;
const KEYCAP = /([0-9#*])\ufe0f?\u20e3/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * The part of a text that the fonts can show, on one line: no controls, nothing that turns the direction of what follows, and a
 * character that no font has by its plain form (NFKC) or not at all.
 */
export function drawableText(text: string, canShow: (codePoint: number) => boolean): string {
  const isShown = (characters: string) =>
    [...characters].every((each) => INVISIBLE.test(each) || canShow(each.codePointAt(0) ?? 0));
  let drawable = '';
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

/** Whether a text begins in a script that is written from right to left. */
export function isRightToLeft(text: string): boolean {
  const first = /\p{L}/u.exec(text)?.[0];
  return first !== undefined && RIGHT_TO_LEFT.test(first);
}

/** The first sentence where a text has one that says something, and else all of it. */
export function firstSentence(text: string): string {
  const [sentence] = /^.{40,}?(?:[.!?](?=\s)|[。！？])/su.exec(text) ?? [text];
  return sentence;
}

/**
 * Breaks a text into lines of at most `maxWidth` as `measure` has it: between words, where a script has no spaces between
 * those that a dictionary knows, and inside a word only if it is longer than a line. What is left over is cut by an ellipsis.
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

/** Pieces between which a line may end. Punctuation stays with what it follows. */
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

/** The longest beginning that fits, at least one character, and the rest. */
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
