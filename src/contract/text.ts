/** The JSON Schema `format` of text that both PostgreSQL and JSON can store: without NUL and lone surrogates. */
export const TEXT_FORMAT = 'storable-text';

/** Returns whether a string can be stored and read back unchanged. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Returns whether a string contains a visible character, that is, one other than white space, control and format
 * characters, combining marks, default ignorable code points (`DI`, such as U+3164) and the blank Braille pattern.
 */
export function isVisible(text: string): boolean {
  return /[^\p{Cc}\p{Cf}\p{Z}\p{M}\p{DI}\u2800]/u.test(text);
}

/** The JSON Schema `format` of storable text that contains a visible character. */
export const VISIBLE_FORMAT = 'visible-text';

/**
 * Returns whether a text has more than `maxCharacters` code points. Counts its UTF-16 code units first, because that is
 * fast and a text never has more code points than code units.
 */
export function isLongerThan(text: string, maxCharacters: number): boolean {
  return text.length > maxCharacters && [...text].length > maxCharacters;
}

/**
 * Matches an http(s) URL, or a URL without a scheme (`//host/path`), whose host has at most 253 characters, the maximum
 * length of a host name. Longer hosts are rejected before parsing, because `URL` takes quadratic time to encode them.
 */
export const HTTP_URL = /^(?:https?:)?\/\/[^\s\\/?#]{1,253}(?:[/?#]|$)/i;

/** Appends a period to a text, unless it already ends with one. */
export function withPeriod(text: string): string {
  return `${text.replace(/\.$/, '')}.`;
}

/** Escapes each UTF-16 code unit of a string as in JSON: `\uXXXX`. */
export function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

// Marked as pure, so bundlers omit it from bundles that do not use it.
const ENGLISH = /* @__PURE__ */ new Intl.NumberFormat('en');

/** Formats a number for English text: `1,234`. */
export function formatCount(count: number): string {
  return ENGLISH.format(count);
}

/** Formats a number with its noun, for English text: `1 vote`, `1,234 votes`. */
export function formatQuantity(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** The JSON Schema `format` of an instant in UTC, such as `2026-12-01T09:00:00Z`. */
export const INSTANT_FORMAT = 'utc-instant';

const INSTANT = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/;

/** Returns whether a string is a valid instant in UTC. `Date` alone would read February 30 as March 2. */
export function isInstant(text: string): boolean {
  const date = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 19));
}

/** Returns whether a string of the form `2026-12-01` is a day that exists, unlike `2026-02-30`. */
export function isDay(text: string): boolean {
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** Formats an ISO 8601 time in UTC to the minute: `2026-01-31T18:00:59.123Z` as `2026-01-31 18:00`. */
export function utcMinute(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}
