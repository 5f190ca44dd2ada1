import { randomBytes } from 'node:crypto';
import { SUBMISSION_LIMITS } from '../../contract/submissions/limits.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { networkOf } from '../leaderboards/tally-format.ts';

const ADD_SECRET = "INSERT INTO site_secrets (name, secret) VALUES ('submissions', $1) ON CONFLICT (name) DO NOTHING";
const LOCK_SECRET = "SELECT secret FROM site_secrets WHERE name = 'submissions' FOR UPDATE";
const COUNT_WAITING =
  "SELECT count(*)::integer AS waiting FROM submissions WHERE network = $1::uuid AND status = 'waiting'";

/**
 * Serializes submitters until the transaction ends, so the limit on waiting submissions is exact.
 * @returns the secret under which networks are hashed.
 */
export async function lockQueue(sql: Sql): Promise<Buffer> {
  const [present] = await sql.query<{ secret: Buffer }>(LOCK_SECRET);
  if (present) return present.secret;
  await sql.query(ADD_SECRET, [randomBytes(32)]);
  const [added] = await sql.query<{ secret: Buffer }>(LOCK_SECRET);
  if (added === undefined) throw new Error('The secret of submissions could not be stored');
  return added.secret;
}

/**
 * Hashes a network and checks that it may have one more waiting submission; call it after `lockQueue`. `prefix` is
 * unset if nothing is limited.
 * @throws CoreError `too_many_waiting`.
 */
export async function takeWaitingPlace(
  sql: Sql,
  secret: Buffer,
  prefix: Uint8Array | undefined,
): Promise<string | null> {
  if (prefix === undefined) return null;
  const network = networkOf(secret, prefix);
  const [row] = await sql.query<{ waiting: number }>(COUNT_WAITING, [network]);
  if ((row?.waiting ?? 0) < SUBMISSION_LIMITS.waitingPerNetwork) return network;
  throw new CoreError(
    'too_many_waiting',
    `At most ${SUBMISSION_LIMITS.waitingPerNetwork} submissions from this network may wait for a decision. Please try again once one of them is decided.`,
  );
}
