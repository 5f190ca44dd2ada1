/** The JSON Schema `format` of text that PostgreSQL and JSON can both hold: no NUL, no lone surrogate. */
export const TEXT_FORMAT = 'storable-text';

/** Whether a string can be stored and read back unchanged. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
