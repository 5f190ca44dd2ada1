/** UTF-16 units looked at for each character that is kept: a flag or a family is one character of many units. */
const UNITS_PER_CHARACTER = 32;

/** Cutting at a word may cost at most this share of the room: some scripts know no spaces. */
const LEAST_KEPT = 0.6;

const segmenter = typeof Intl.Segmenter === 'function' ? new Intl.Segmenter('en') : null;

/** A text as one line of at most `limit` characters as people count them; what is cut ends at a word, with an ellipsis. */
export function clampText(text: string, limit: number): string {
  const looked = text.slice(0, limit * UNITS_PER_CHARACTER);
  const characters = charactersOf(looked.replace(/\s+/g, ' ').trim());
  if (looked.length === text.length && characters.length <= limit) return characters.join('');
  // The last one may have been cut in half.
  const end = Math.min(limit - 1, characters.length - 1);
  const space = characters[end] === ' ' ? end : characters.lastIndexOf(' ', end);
  const kept = characters.slice(0, space > limit * LEAST_KEPT ? space : end);
  return `${kept.join('').replace(/[\s,;:.–—-]+$/u, '')}…`;
}

function charactersOf(line: string): string[] {
  return segmenter ? Array.from(segmenter.segment(line), ({ segment }) => segment) : Array.from(line);
}
