import { isOperatorName } from '../../contract/console/operators.ts';
import { recordAudit, runAsOperator } from '../audit/audit-log.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import type { RowLock } from '../database/transactions.ts';
import { hashPassphrase, isPassphrase } from './passphrase.ts';
import { beginSession, createToken, endSession, endSessionsOf, hashToken, isToken } from './sessions.ts';

/** The result of signing in, for the browser. */
export interface SignedIn {
  operator: string;
  /** The token of the new session. */
  sessionToken: string;
  /** Identifies this browser as known to the operator; undefined if it is already known. */
  deviceToken?: string;
}

const SELECT_INVITATION =
  'SELECT operator FROM operator_invitations WHERE token_hash = $1 AND expires_at > $2::timestamptz';

/** The operator's name in an invitation. @throws CoreError `invitation_invalid`, `unavailable`. */
export async function readInvitation(sql: Sql, token: string, now: Date): Promise<string> {
  const [invitation] = isToken(token)
    ? await sql.query<{ operator: string }>(SELECT_INVITATION, [hashToken(token), now.toISOString()])
    : [];
  if (invitation === undefined)
    throw new CoreError(
      'invitation_invalid',
      'This invitation has expired or was used. Run `groundswell console invite` for a new one.',
    );
  return invitation.operator;
}

/**
 * Sets the operator's passphrase, ends the operator's other sessions, and signs in. An invitation works once.
 * @throws CoreError `invitation_invalid`, `passphrase_too_short`, `overloaded`, `unavailable`.
 */
export async function acceptInvitation(
  database: Database,
  { token, passphrase, now }: { token: string; passphrase: string; now: Date },
): Promise<SignedIn> {
  await readInvitation(database, token, now);
  const stored = await hashPassphrase(passphrase);
  return database.transaction(async (sql) => {
    const operator = await readInvitation(sql, token, now);
    const used = await sql.query('DELETE FROM operator_invitations WHERE token_hash = $1 RETURNING operator', [
      hashToken(token),
    ]);
    // Another request accepted the invitation first.
    if (used.length === 0) await readInvitation(sql, '', now);
    await sql.query('UPDATE operators SET passphrase = $2 WHERE name = $1', [operator, stored]);
    await endSessionsOf(sql, operator);
    await sql.query('DELETE FROM operator_devices WHERE operator = $1', [operator]);
    await runAsOperator(operator, () => recordAudit(sql, { action: 'console accept', target: operator }));
    return begin(sql, operator, now);
  });
}

/** Whether the operator has signed in with this browser before. Takes one statement for any name. */
export async function isKnownDevice(sql: Sql, name: string, deviceToken: string | undefined): Promise<boolean> {
  const rows = await sql.query('SELECT FROM operator_devices WHERE token_hash = $1 AND operator = $2', [
    hashToken(deviceToken ?? ''),
    name,
  ]);
  return rows.length > 0;
}

/**
 * Signs an operator in. A wrong name and a wrong passphrase take the same time and give the same error. The caller
 * limits guesses. `before` is the browser's previous session, which ends.
 * @throws CoreError `sign_in_failed`, `overloaded`, `unavailable`.
 */
export async function signIn(
  database: Database,
  given: { name: string; passphrase: string; deviceToken: string | undefined; before: string | undefined; now: Date },
): Promise<SignedIn> {
  const { name, passphrase, deviceToken, before, now } = given;
  const stored = await readPassphrase(database, name);
  if (!(await isPassphrase(passphrase, stored))) throw signInFailed();
  return database.transaction(async (sql) => {
    // Access may have been revoked, or another passphrase set, during the work above. The lock keeps either from
    // committing before this session exists, which it then ends.
    if ((await readPassphrase(sql, name, 'FOR UPDATE')) !== stored) throw signInFailed();
    await endSession(sql, before);
    return begin(sql, name, now, await isKnownDevice(sql, name, deviceToken));
  });
}

async function readPassphrase(sql: Sql, name: string, lock: RowLock = ''): Promise<string | undefined> {
  const [row] = await sql.query<{ passphrase: string | null }>(
    `SELECT passphrase FROM operators WHERE name = $1 ${lock}`,
    [isOperatorName(name) ? name : ''],
  );
  return row?.passphrase ?? undefined;
}

function signInFailed(): CoreError {
  return new CoreError('sign_in_failed', 'The name or passphrase is wrong.');
}

async function begin(sql: Sql, operator: string, now: Date, isKnown = false): Promise<SignedIn> {
  const sessionToken = await beginSession(sql, operator, now);
  if (isKnown) return { operator, sessionToken };
  const device = createToken();
  await sql.query('INSERT INTO operator_devices (token_hash, operator, created_at) VALUES ($1, $2, $3)', [
    device.hash,
    operator,
    now.toISOString(),
  ]);
  return { operator, sessionToken, deviceToken: device.text };
}
