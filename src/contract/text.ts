/** The JSON Schema `format` of text that PostgreSQL and JSON can both hold: no NUL, no lone surrogate. */
export const TEXT_FORMAT = 'storable-text';

/** Whether a string can be stored and read back unchanged. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The JSON Schema `format` of an instant in UTC, such as `2026-12-01T09:00:00Z`. */
export const INSTANT_FORMAT = 'utc-instant';

const INSTANT = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/;

/** Whether a text is an instant in UTC, of a day and a time that exist: `Date` makes another one of February 30. */
export function isInstant(text: string): boolean {
  const date = new Date(text);
  return INSTANT.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 19));
}
