/** A separator followed by what begins an address: one inside an address separates nothing. */
const BEFORE_ADDRESS = /[,;|\n]\s*(?=https?:\/\/|\/)/;
const SEPARATORS = /[,;|\n]/;

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
  return trimmed
    .split(/https?:\/\//.test(trimmed) ? BEFORE_ADDRESS : SEPARATORS)
    .map((part) => part.trim())
    .filter((part) => part !== '');
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
