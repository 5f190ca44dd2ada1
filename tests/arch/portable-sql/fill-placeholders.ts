import { parse, SqlError } from 'libpg-query';
import { HOLE } from './statements.ts';

/**
 * The possible contents of a hole, most likely first: a name, nothing, a value, a condition or an assignment, a query,
 * a constraint.
 */
const FILLERS = ['filled', '', '$1', '1', 'filled = 1', 'SELECT 1', 'CHECK (true)'];

/**
 * Fills the holes of a text so PostgreSQL can parse it. Returns undefined if that is impossible. An attempt ends as
 * soon as the parser fails before the next hole.
 */
export async function fillHoles(text: string): Promise<string | undefined> {
  const hole = text.indexOf(HOLE);
  if (hole === -1) return (await syntaxErrorOffset(text)) === undefined ? text : undefined;
  for (const filler of FILLERS) {
    const filled = text.slice(0, hole) + filler + text.slice(hole + HOLE.length);
    const next = filled.indexOf(HOLE);
    const at = await syntaxErrorOffset(filled.replaceAll(HOLE, 'filled'));
    if (at !== undefined && (next === -1 || at < next)) continue;
    const whole = await fillHoles(filled);
    if (whole !== undefined) return whole;
  }
  return undefined;
}

/** Returns the offset of the first syntax error, or undefined if the text is valid SQL. */
async function syntaxErrorOffset(sql: string): Promise<number | undefined> {
  try {
    await parse(sql);
    return undefined;
  } catch (error) {
    if (error instanceof SqlError) return error.sqlDetails?.cursorPosition ?? 0;
    throw error;
  }
}
