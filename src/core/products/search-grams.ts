// Rows store their n-grams, so later versions may add entries to these two lists, but must not remove any.

const COMMON_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789.,-:()\'/!&"';

/**
 * Pairs of characters that occur in at least 1% of the examined texts (the sample catalogue and 550 npm packages), by
 * first character.
 */
const COMMON_PAIRS: Record<string, string> = {
  "'": 'st',
  ')': '.',
  '-': 'abcefilmoprst',
  a: ',.bcdfgijklmnprstuvwxy',
  b: ',.aegijlorsuy',
  c: '.acehiklorstuy',
  d: ',-.:adeijlorstuy',
  e: ',-.:abcdefghilmnopqrstuvwxy',
  f: 'aefilortuy',
  g: ',.:aeghilnoprsu',
  h: ',.aeilmoqrstuy',
  i: 'abcdefgklmnopqrstuvxz',
  j: 'aeou',
  k: ',.adeilnsu',
  l: ',-.abcdeiklmopstuvy',
  m: ',.abeilmnopqsu',
  n: "',-.abcdefgijklmnopstuvy",
  o: '-abcdefgijklmnoprstuvwxz',
  p: ',-.adeghilmoprstuy',
  q: 'lu',
  r: ',-.:abcdefgiklmnoprstuvy',
  s: '),.:acefhiklmnopqstuvwy',
  t: "',-.:aceghilmoprstuwy",
  u: 'abcdefgilmnprstx',
  v: 'aegio',
  w: 'aehinors',
  x: '.aceipty',
  y: ',-.abelnopstw',
  z: 'aei',
};

const SPACE = 0x20;
/** Precedes a single character, which can then be treated as a pair. No text contains U+0000. */
const NO_CHARACTER = 0;

/** Returns whether a character is white space or a control character up to U+0020. No n-gram contains these. */
function isSpace(character: number): boolean {
  return character !== NO_CHARACTER && character <= SPACE;
}

const ASCII_CHARACTERS = 0x80;
/** Contains 1 for each pair of ASCII characters that is not an n-gram. */
const EXCLUDED = excludedPairs();

function excludedPairs(): Uint8Array {
  const excluded = new Uint8Array(ASCII_CHARACTERS * ASCII_CHARACTERS);
  for (let index = 0; index < excluded.length; index += 1) {
    if (isSpace(Math.floor(index / ASCII_CHARACTERS)) || isSpace(index % ASCII_CHARACTERS)) excluded[index] = 1;
  }
  for (const [first, seconds] of [['\0', COMMON_CHARACTERS] as const, ...Object.entries(COMMON_PAIRS)]) {
    for (const second of seconds) excluded[first.charCodeAt(0) * ASCII_CHARACTERS + second.charCodeAt(0)] = 1;
  }
  return excluded;
}

function isGram(first: number, second: number): boolean {
  if (first < ASCII_CHARACTERS && second < ASCII_CHARACTERS) return EXCLUDED[first * ASCII_CHARACTERS + second] === 0;
  return !isSpace(first) && !isSpace(second);
}

/**
 * Represents two code points as 32 bits. Pairs with characters beyond U+FFFF can share a number with other pairs, which
 * is harmless, because searches also compare the text.
 */
function numberOf(first: number, second: number): number {
  return (first << 16) ^ second;
}

/**
 * Returns the distinct n-grams of a folded text: its characters and pairs of adjacent characters, except those that are
 * common in English. A scan of the list soon finds products with common characters and pairs, so English texts need
 * only a few n-grams.
 */
export function searchGramsOf(text: string): number[] {
  const grams = new Set<number>();
  let previous = SPACE;
  for (let index = 0; index < text.length; index += previous > 0xffff ? 2 : 1) {
    const current = text.codePointAt(index) ?? SPACE;
    if (isGram(NO_CHARACTER, current)) grams.add(current);
    if (isGram(previous, current)) grams.add(numberOf(previous, current));
    previous = current;
  }
  return [...grams];
}

/**
 * Returns the n-grams to look up for a folded term: its pairs, and characters that are in none of these pairs. Every
 * text that contains the term has all of these n-grams. A term without n-grams can only be found by scanning.
 */
export function lookupGramsOf(term: string): number[] {
  const grams = new Set<number>();
  const characters = Array.from(term, (character) => character.codePointAt(0) ?? SPACE);
  for (const [index, character] of characters.entries()) {
    const previous = characters[index - 1] ?? SPACE;
    const next = characters[index + 1] ?? SPACE;
    if (isGram(character, next)) grams.add(numberOf(character, next));
    else if (!isGram(previous, character) && isGram(NO_CHARACTER, character)) grams.add(character);
  }
  return [...grams];
}
