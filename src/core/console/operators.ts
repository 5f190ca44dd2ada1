import { recordAudit } from '../audit/audit-log.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { HOUR_MS } from '../runtime.ts';
import { createToken } from '../token.ts';
import { boundsOf, IS_OPEN } from './sessions.ts';

const INVITATION_HOURS = 24;

interface Invitation {
  /** The secret of the invitation. It is shown once; the database stores only its hash. */
  token: string;
  /** ISO 8601, UTC. */
  expiresAt: string;
}

export interface Operator {
  name: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** Whether a passphrase has been set. */
  active: boolean;
  /** When the current invitation expires (ISO 8601, UTC); null if there is none. */
  invitedUntil: string | null;
  /** The number of open sessions. */
  sessions: number;
  /** When a session was last used, accurate to a minute (ISO 8601, UTC); null if `sessions` is 0. */
  lastUsedAt: string | null;
}

/** Returns whether the site has operators; without any, it has no console. @throws CoreError `unavailable`. */
export async function hasOperators(sql: Sql): Promise<boolean> {
  return (await sql.query('SELECT FROM operators LIMIT 1')).length > 0;
}

/** Adds the operator, or locks the existing row, so only one transaction at a time changes the invitations. */
const ADD_OPERATOR =
  'INSERT INTO operators (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET created_at = operators.created_at';
const ADD_INVITATION = 'INSERT INTO operator_invitations (token_hash, operator, expires_at) VALUES ($1, $2, $3)';

/**
 * Invites a new operator, or lets an existing one set another passphrase. The operator's earlier invitations become
 * invalid.
 * @throws CoreError `unavailable`.
 */
export async function inviteOperator(database: Database, name: string, now: Date): Promise<Invitation> {
  const token = createToken();
  const expiresAt = new Date(now.getTime() + INVITATION_HOURS * HOUR_MS).toISOString();
  await transactionWithRetries(database, async (sql) => {
    await sql.query(ADD_OPERATOR, [name, now.toISOString()]);
    await sql.query('DELETE FROM operator_invitations WHERE operator = $1', [name]);
    await sql.query(ADD_INVITATION, [token.hash, name, expiresAt]);
    await recordAudit(sql, { action: 'console invite', target: name });
  });
  return { token: token.text, expiresAt };
}

const SELECT_OPERATORS = `SELECT o.name, o.created_at, o.passphrase IS NOT NULL AS active,
    (SELECT max(i.expires_at) FROM operator_invitations i WHERE i.operator = o.name AND i.expires_at > $1::timestamptz) AS invited_until,
    open.sessions, open.last_used_at
  FROM operators o CROSS JOIN LATERAL (
    SELECT count(*)::integer AS sessions, max(used_at) AS last_used_at
    FROM operator_sessions WHERE operator = o.name AND ${IS_OPEN}
  ) AS open
  ORDER BY o.name`;

/** Lists operators and the numbers of their open sessions. @throws CoreError `unavailable`. */
export async function listOperators(sql: Sql, now: Date): Promise<Operator[]> {
  const rows = await sql.query<{
    name: string;
    created_at: Date;
    active: boolean;
    invited_until: Date | null;
    sessions: number;
    last_used_at: Date | null;
  }>(SELECT_OPERATORS, [now.toISOString(), ...boundsOf(now)]);
  return rows.map(({ name, created_at, active, invited_until, sessions, last_used_at }) => ({
    name,
    createdAt: created_at.toISOString(),
    active,
    invitedUntil: invited_until?.toISOString() ?? null,
    sessions,
    lastUsedAt: last_used_at?.toISOString() ?? null,
  }));
}

/**
 * Deletes an operator with all sessions, invitations and known devices, which ends the operator's access immediately.
 * @returns whether the operator existed.
 */
export async function revokeOperator(database: Database, name: string): Promise<boolean> {
  return transactionWithRetries(database, async (sql) => {
    const deleted = await sql.query('DELETE FROM operators WHERE name = $1 RETURNING name', [name]);
    if (deleted.length > 0) await recordAudit(sql, { action: 'console revoke', target: name });
    return deleted.length > 0;
  });
}
