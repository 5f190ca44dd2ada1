import { randomUUID } from 'node:crypto';
import type { Sql } from '../database/database.ts';
import { operatorName } from './operator-name.ts';

/** The command that was given, as `log` names it. */
export type ActName =
  | 'products remove'
  | 'products restore'
  | 'comments hide'
  | 'comments restore'
  | 'comments release'
  | 'counts repair'
  | 'sample load'
  | 'sample remove'
  | 'import'
  | 'backup'
  | 'restore';

/** What the operator did to one thing. No text of a visitor's, no session and no address belongs in it. */
export interface NewAct {
  act: ActName;
  /** What it was done to, in few words: the id of a product or comment, the name of a file. */
  subject: string;
  /** What else is worth knowing, in plain JSON. */
  details?: object;
}

const INSERT_ACTS = `INSERT INTO acts (id, acted_at, operator, act, subject, details)
  SELECT id, clock_timestamp(), $2, act, subject, details
  FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, act text, subject text, details jsonb)`;

/**
 * Writes down acts of the operator's, in the transaction that does them: they are known if they were done, and only then.
 * @throws CoreError `unavailable`.
 */
export async function recordActs(sql: Sql, acts: readonly NewAct[]): Promise<void> {
  if (acts.length === 0) return;
  const rows = acts.map(({ act, subject, details = {} }) => ({ id: randomUUID(), act, subject, details }));
  await sql.query(INSERT_ACTS, [JSON.stringify(rows), operatorName()]);
}

/** Writes down one act, in the transaction that does it. @throws CoreError `unavailable`. */
export function recordAct(sql: Sql, act: NewAct): Promise<void> {
  return recordActs(sql, [act]);
}
