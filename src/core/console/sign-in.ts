import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { isOperatorName, PASSPHRASE_CHARACTERS } from '../../contract/console/records.ts';
import { recordAudit, runAsOperator } from '../audit/audit-log.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { createSemaphore } from '../semaphore.ts';
import { createToken, hashToken, isToken } from '../token.ts';
import { beginSession, endSession, endSessionsOf } from './sessions.ts';

/** The result of signing in, which the browser receives. */
export interface SignedIn {
  operator: string;
  /** The token of the new session. */
  sessionToken: string;
  /** A token that marks this browser as known for this operator for a year. It replaces the previous token. */
  deviceToken: string;
}

const SELECT_INVITATION =
  'SELECT operator FROM operator_invitations WHERE token_hash = $1 AND expires_at > $2::timestamptz';

/** Returns the name of the invited operator. @throws CoreError `invitation_invalid`, `unavailable`. */
export async function readInvitation(sql: Sql, token: string, now: Date): Promise<string> {
  const [invitation] = isToken(token)
    ? await sql.query<{ operator: string }>(SELECT_INVITATION, [hashToken(token), now.toISOString()])
    : [];
  if (invitation === undefined) throw invitationInvalid();
  return invitation.operator;
}

function invitationInvalid(): CoreError {
  return new CoreError(
    'invitation_invalid',
    'This invitation is not valid: it has expired, or has been used, replaced or revoked. Run `groundswell console invite` for a new one.',
  );
}

const USE_INVITATIONS = `DELETE FROM operator_invitations WHERE operator = $1
  RETURNING token_hash = $2 AND expires_at > $3::timestamptz AS is_accepted`;

/**
 * Sets the operator's passphrase, ends the operator's other sessions, forgets the known devices, and signs in. An
 * invitation works once. `before` is the token of the browser's previous session, which ends.
 * @throws CoreError `invitation_invalid`, `passphrase_too_short`, `overloaded`, `unavailable`.
 */
export async function acceptInvitation(
  database: Database,
  { token, passphrase, before, now }: { token: string; passphrase: string; before?: string | undefined; now: Date },
): Promise<SignedIn> {
  const operator = await readInvitation(database, token, now);
  const stored = await hashPassphrase(passphrase);
  return transactionWithRetries(database, async (sql) => {
    // Locks the operator before the invitations, like a revocation, which would otherwise deadlock with this change.
    await sql.query('UPDATE operators SET passphrase = $2 WHERE name = $1', [operator, stored]);
    // Another request may have used the invitation while the passphrase was hashed.
    const used = await sql.query<{ is_accepted: boolean }>(USE_INVITATIONS, [
      operator,
      hashToken(token),
      now.toISOString(),
    ]);
    if (!used.some((invitation) => invitation.is_accepted)) throw invitationInvalid();
    await endSessionsOf(sql, operator);
    await endSession(sql, before);
    await sql.query('DELETE FROM operator_devices WHERE operator = $1', [operator]);
    await runAsOperator(operator, () => recordAudit(sql, { action: 'console accept', target: operator }));
    return completeSignIn(sql, operator, now);
  });
}

/** Returns whether the operator has signed in with this browser before. Takes the same time for an unknown name. */
export async function isKnownDevice(sql: Sql, name: string, deviceToken: string | undefined): Promise<boolean> {
  const rows = await sql.query('SELECT FROM operator_devices WHERE token_hash = $1 AND operator = $2', [
    hashToken(deviceToken ?? ''),
    name,
  ]);
  return rows.length > 0;
}

/**
 * Signs an operator in. An unknown name and a wrong passphrase take the same time and cause the same error. The caller
 * must limit attempts. `before` is the token of the browser's previous session, which ends. `knownDevice` is the
 * browser's device token if `isKnownDevice` returned true, and is replaced. Attempts from known devices skip the queue,
 * so a flood of guesses cannot lock operators out.
 * @throws CoreError `sign_in_failed`, `overloaded`, `unavailable`.
 */
export async function signIn(
  database: Database,
  given: {
    name: string;
    passphrase: string;
    knownDevice: string | undefined;
    before: string | undefined;
    now: Date;
  },
): Promise<SignedIn> {
  const { name, passphrase, knownDevice, before, now } = given;
  const stored = await readPassphrase(database, name);
  if (!(await isPassphrase(passphrase, stored, knownDevice !== undefined))) throw signInFailed();
  return database.transaction(async (sql) => {
    // Access may have been revoked, or the passphrase changed, while the given passphrase was hashed. The lock delays a
    // later change until this session is committed, and that change then ends the session.
    if ((await readPassphrase(sql, name, 'FOR UPDATE')) !== stored) throw signInFailed();
    await endSession(sql, before);
    await sql.query('DELETE FROM operator_devices WHERE token_hash = $1 AND operator = $2', [
      hashToken(knownDevice ?? ''),
      name,
    ]);
    return completeSignIn(sql, name, now);
  });
}

async function readPassphrase(sql: Sql, name: string, lock: 'FOR UPDATE' | '' = ''): Promise<string | undefined> {
  const [row] = await sql.query<{ passphrase: string | null }>(
    `SELECT passphrase FROM operators WHERE name = $1 ${lock}`,
    [isOperatorName(name) ? name : ''],
  );
  return row?.passphrase ?? undefined;
}

function signInFailed(): CoreError {
  return new CoreError('sign_in_failed', 'The name or passphrase is wrong.');
}

async function completeSignIn(sql: Sql, operator: string, now: Date): Promise<SignedIn> {
  const sessionToken = await beginSession(sql, operator, now);
  const device = createToken();
  await sql.query('INSERT INTO operator_devices (token_hash, operator, created_at) VALUES ($1, $2, $3)', [
    device.hash,
    operator,
    now.toISOString(),
  ]);
  return { operator, sessionToken, deviceToken: device.text };
}

/**
 * The cost parameters of scrypt that OWASP recommends for 32 MB of memory. They are stored with each hash, so they can
 * be raised later.
 */
const COST = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Each hash takes 32 MB and a quarter of a second of CPU time, so only one runs at a time; others wait up to 10 s. */
const hashSemaphore = createSemaphore(1);
const SLOT_TIMEOUT_MS = 10_000;

const STORED_HASH = /^scrypt\$(\d{2})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/**
 * The hash that is compared if an operator has no passphrase, so an unknown name takes as long as a wrong passphrase.
 */
const DUMMY_HASH = formatHash(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

/** Hashes a passphrase for storage. @throws CoreError `passphrase_too_short`, `overloaded`. */
async function hashPassphrase(passphrase: string): Promise<string> {
  const text = normalizePassphrase(passphrase);
  if ([...text].length < PASSPHRASE_CHARACTERS.min)
    throw new CoreError(
      'passphrase_too_short',
      `A passphrase must have at least ${PASSPHRASE_CHARACTERS.min} characters. Four or five unrelated words make a good one.`,
    );
  const salt = randomBytes(SALT_BYTES);
  return formatHash(COST, salt, await derive(text, salt, COST, HASH_BYTES));
}

/**
 * Returns whether a passphrase matches a stored hash. If the hash is undefined, takes the same time and returns false.
 * @throws CoreError `overloaded`.
 */
async function isPassphrase(passphrase: string, stored: string | undefined, isUrgent: boolean): Promise<boolean> {
  const [, logN, r, p, salt = '', hash = ''] = STORED_HASH.exec(stored ?? DUMMY_HASH) ?? [];
  const expected = Buffer.from(hash, 'base64url');
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const given = normalizePassphrase(passphrase);
  const actual = await derive(given, Buffer.from(salt, 'base64url'), cost, expected.length, isUrgent);
  return timingSafeEqual(actual, expected) && stored !== undefined;
}

/** Normalizes a passphrase with NFKC (NIST SP 800-63B), because keyboards encode accented letters in different ways. */
function normalizePassphrase(passphrase: string): string {
  return passphrase.normalize('NFKC');
}

function formatHash({ logN, r, p }: typeof COST, salt: Buffer, hash: Buffer): string {
  return ['scrypt', logN, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

async function derive(
  text: string,
  salt: Buffer,
  { logN, r, p }: typeof COST,
  bytes: number,
  isUrgent = false,
): Promise<Buffer> {
  const release = await hashSemaphore.acquire(SLOT_TIMEOUT_MS, isUrgent);
  if (release === undefined)
    throw new CoreError('overloaded', 'Too many people are signing in right now. Please try again in a moment.');
  const N = 2 ** logN;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  try {
    return await new Promise((resolve, reject) => {
      scrypt(text, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    release();
  }
}
