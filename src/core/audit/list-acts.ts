import type { Sql } from '../database/database.ts';
import type { NewAct } from './record-act.ts';

/** Something that the operator did. */
export interface Act extends Required<NewAct> {
  id: string;
  /** ISO 8601, UTC. */
  actedAt: string;
  /** The operating system's name of whoever ran the command. */
  operator: string;
}

interface ActRow {
  id: string;
  acted_at: Date;
  operator: string;
  act: Act['act'];
  subject: string;
  details: object;
}

/** The newest acts, newest first. @throws CoreError `unavailable`. */
export async function listActs(sql: Sql, { limit }: { limit: number }): Promise<Act[]> {
  const rows = await sql.query<ActRow>(
    'SELECT id, acted_at, operator, act, subject, details FROM acts ORDER BY acted_at DESC, id DESC LIMIT $1',
    [limit],
  );
  return rows.map(({ acted_at: actedAt, ...act }) => ({ ...act, actedAt: actedAt.toISOString() }));
}
