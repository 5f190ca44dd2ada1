/** UTF-16 units examined per character: a flag or a family is one character of many units. */
const UNITS_PER_CHARACTER = 32;

/** Cutting at a word may cost at most this share of the room: some scripts have no spaces. */
const MIN_SHOWN_SHARE = 0.6;

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en') : null;

/** A text as one line of at most `limit` visible characters; a cut text ends at a word, with an ellipsis. */
export function clampText(text: string, limit: number): string {
  const looked = text.slice(0, limit * UNITS_PER_CHARACTER);
  // One more than allowed shows that there are too many: the rest need not be examined.
  const characters = firstCharacters(looked.replace(/\s+/g, ' ').trim(), limit + 1);
  if (looked.length === text.length && characters.length <= limit) return characters.join('');
  // The last one may have been cut in half.
  const end = Math.min(limit - 1, characters.length - 1);
  const space = characters[end] === ' ' ? end : characters.lastIndexOf(' ', end);
  const shown = characters.slice(0, space > limit * MIN_SHOWN_SHARE ? space : end);
  return `${shown.join('').replace(/[\s,;:.–—-]+$/u, '')}…`;
}

/** Here each unit is a character: combining characters are beyond ASCII. */
const PLAIN = /^[ -~]*$/;

function firstCharacters(line: string, count: number): string[] {
  // Finding the boundaries of characters takes as long as rendering a good part of a page.
  const start = line.slice(0, count + 1);
  if (PLAIN.test(start)) return Array.from(start).slice(0, count);
  if (segmenter === null) return Array.from(line).slice(0, count);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(line)) {
    if (characters.push(segment) === count) break;
  }
  return characters;
}
