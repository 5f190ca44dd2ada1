import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { DAY_MS, HOUR_MS } from '../runtime.ts';
import { createToken, hashToken, isToken } from '../token.ts';

/** The number of hours without use after which a session ends. */
const IDLE_HOURS = 12;
/** The number of days after which a session ends even if it is used. */
const MAX_DAYS = 30;
/** The minimum interval between recorded uses of a session. */
const USE_INTERVAL_MS = 60_000;

/** Creates a session. @returns its token, of which the database stores only a hash. */
export async function beginSession(sql: Sql, operator: string, now: Date): Promise<string> {
  const { text, hash } = createToken();
  await sql.query(
    'INSERT INTO operator_sessions (token_hash, operator, created_at, used_at) VALUES ($1, $2, $3::timestamptz, $3::timestamptz)',
    [hash, operator, now.toISOString()],
  );
  return text;
}

/**
 * The SQL condition on open sessions, with the values of `boundsOf` as $2 to $4. Excludes times far in the future,
 * which were stored while the clock was wrong.
 */
export const IS_OPEN =
  'used_at > $2::timestamptz AND created_at > $3::timestamptz AND used_at < $4::timestamptz AND created_at < $4::timestamptz';

/**
 * Returns the three bounds of open sessions, which were last used after the first time and created after the second,
 * and both before the third.
 */
export const boundsOf = (now: Date) =>
  [-IDLE_HOURS * HOUR_MS, -MAX_DAYS * DAY_MS, IDLE_HOURS * HOUR_MS].map((ms) =>
    new Date(now.getTime() + ms).toISOString(),
  );

const SELECT_SESSION = `SELECT token_hash, operator, used_at FROM operator_sessions WHERE token_hash = $1 AND ${IS_OPEN}`;

interface SessionRow {
  token_hash: Buffer;
  operator: string;
  used_at: Date;
}

/**
 * Reads an open session. Reading does not count as use. @returns undefined for any other token.
 * @throws CoreError `unavailable`.
 */
export async function readSession(sql: Sql, token: string | undefined, now: Date): Promise<SessionRow | undefined> {
  if (!isToken(token)) return undefined;
  return (await sql.query<SessionRow>(SELECT_SESSION, [hashToken(token), ...boundsOf(now)]))[0];
}

/**
 * Returns the operator of an open session, or undefined for any other token, and records the use of the session.
 * @throws CoreError `unavailable`.
 */
export async function touchSession(sql: Sql, token: string | undefined, now: Date): Promise<string | undefined> {
  const session = await readSession(sql, token, now);
  if (session && Math.abs(now.getTime() - session.used_at.getTime()) > USE_INTERVAL_MS)
    await sql
      .query('UPDATE operator_sessions SET used_at = $2 WHERE token_hash = $1', [session.token_hash, now.toISOString()])
      .catch(unlessUnavailable);
  return session?.operator;
}

/**
 * Ignores the error if the database is unavailable or read-only, so the console stays readable. A later request records
 * the use.
 */
function unlessUnavailable(error: unknown): void {
  if (!(error instanceof CoreError && error.code === 'unavailable')) throw error;
}

const SELECT_OPEN = `SELECT token_hash FROM operator_sessions WHERE token_hash = ANY($1::bytea[]) AND ${IS_OPEN}`;

/** Returns the tokens whose sessions are open. This check does not count as use. @throws CoreError `unavailable`. */
export async function findOpenSessions(sql: Sql, tokens: readonly string[], now: Date): Promise<Set<string>> {
  const rows = await sql.query<{ token_hash: Buffer }>(SELECT_OPEN, [tokens.map(hashToken), ...boundsOf(now)]);
  const open = new Set(rows.map(({ token_hash: hash }) => hash.toString('hex')));
  return new Set(tokens.filter((token) => open.has(hashToken(token).toString('hex'))));
}

/** Ends one session. An unknown token has no effect. */
export async function endSession(sql: Sql, token: string | undefined): Promise<void> {
  if (isToken(token)) await sql.query('DELETE FROM operator_sessions WHERE token_hash = $1', [hashToken(token)]);
}

/** Ends every session of an operator. */
export async function endSessionsOf(sql: Sql, operator: string): Promise<void> {
  await sql.query('DELETE FROM operator_sessions WHERE operator = $1', [operator]);
}

/** Deletes expired sessions, expired invitations, and devices with which no operator has signed in for a year. */
export async function deleteOldSessions(sql: Sql, now: Date): Promise<void> {
  const [earliestUse, earliestStart] = boundsOf(now);
  await sql.query('DELETE FROM operator_sessions WHERE used_at <= $1::timestamptz OR created_at <= $2::timestamptz', [
    earliestUse,
    earliestStart,
  ]);
  await sql.query('DELETE FROM operator_invitations WHERE expires_at <= $1::timestamptz', [now.toISOString()]);
  await sql.query('DELETE FROM operator_devices WHERE created_at < $1::timestamptz', [
    new Date(now.getTime() - DEVICE_DAYS * DAY_MS).toISOString(),
  ]);
}

/** The number of days for which a browser counts as known after an operator has signed in with it. */
export const DEVICE_DAYS = 365;
