import { parse, SqlError } from 'libpg-query';
import { PLACEHOLDER } from './statements.ts';

/**
 * The strings that may replace a placeholder, most likely first: a name, nothing, a parameter, a number, a condition or
 * assignment, a query, and a constraint.
 */
const REPLACEMENTS = ['filled', '', '$1', '1', 'filled = 1', 'SELECT 1', 'CHECK (true)'];

/**
 * Replaces the placeholders of a statement, so PostgreSQL can parse it. Returns undefined if that is impossible. A
 * replacement is rejected if the parser fails before the next placeholder.
 */
export async function fillPlaceholders(text: string): Promise<string | undefined> {
  const start = text.indexOf(PLACEHOLDER);
  if (start === -1) return (await syntaxErrorOffset(text)) === undefined ? text : undefined;
  for (const replacement of REPLACEMENTS) {
    const filled = text.slice(0, start) + replacement + text.slice(start + PLACEHOLDER.length);
    const next = filled.indexOf(PLACEHOLDER);
    const at = await syntaxErrorOffset(filled.replaceAll(PLACEHOLDER, 'filled'));
    if (at !== undefined && (next === -1 || at < next)) continue;
    const whole = await fillPlaceholders(filled);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

/** Returns the offset of the first syntax error, or undefined if the statement is valid SQL. */
async function syntaxErrorOffset(sql: string): Promise<number | undefined> {
  try {
    await parse(sql);
    return undefined;
  } catch (error) {
    if (error instanceof SqlError) return error.sqlDetails?.cursorPosition ?? 0;
    throw error;
  }
}
