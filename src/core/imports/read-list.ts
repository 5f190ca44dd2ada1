const SEPARATORS = /[,;|\n]/;

/** A separator followed by what begins an address: one inside an address separates nothing. */
const ADDRESS = /^[,;|\n]\s*(?:https?:\/\/|\/)/;
const BLANK = /^[,;|\n]\s*$/;

/**
 * Splits a text into a list: a JSON array, or parts between `,`, `;`, `|` or line breaks, trimmed, without the empty ones.
 * Where there are web addresses in it, it splits before addresses only, since they may hold these characters.
 */
export function splitList(text: string): unknown[] {
  const trimmed = text.trim();
  if (trimmed.startsWith('[')) {
    const parsed = parseArray(trimmed);
    if (parsed !== undefined) return parsed;
  }
  const parts = /https?:\/\//.test(trimmed) ? splitBeforeAddresses(trimmed) : trimmed.split(SEPARATORS);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Piece by piece, since one expression would look at a long run of line breaks again from each of them. */
function splitBeforeAddresses(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  /** A separator and the blanks behind it: they go if an address follows, and belong to the part if not. */
  let gap = '';
  for (const piece of text.split(/(?=[,;|\n])/)) {
    // A line break is a blank, too; before any other separator, the gap has ended without an address.
    const isBlankToo = gap !== '' && piece.startsWith('\n');
    if (!isBlankToo) {
      part += gap;
      gap = '';
    }
    if (ADDRESS.test(piece)) {
      parts.push(part);
      part = piece.slice(1);
      gap = '';
    } else if (BLANK.test(piece)) {
      gap += piece;
    } else {
      part += gap + piece;
      gap = '';
    }
  }
  return [...parts, part + gap];
}

/** A text may begin with a bracket and be no JSON, such as `[beta], tools`. */
function parseArray(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
