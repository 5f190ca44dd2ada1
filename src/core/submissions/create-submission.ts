import { createHash, randomBytes } from 'node:crypto';
import { SUBMISSION_LIMITS } from '../../contract/submissions/limits.ts';
import type { NewSubmission } from '../../contract/submissions/schema.ts';
import { OPERATOR_QUEUE, recordChange } from '../changes/change-feed.ts';
import { keyExpiry } from '../comments/idempotency-keys.ts';
import { CoreError, idempotencyKeyReused } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { slugOfName } from '../imports/read-values.ts';
import { uuidOf } from '../leaderboards/calendar.ts';
import { networkOf } from '../leaderboards/vote-networks.ts';
import type { Runtime } from '../runtime.ts';
import { createToken, type Token } from '../token.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { checkFields, NO_FIELDS, type SubmissionFields } from './submission-fields.ts';
import { readSubmissionRow, type SubmissionRow } from './submission-row.ts';

export interface Submitter {
  session: string;
  idempotencyKey?: string | undefined;
  /** The prefix of the submitter's network; unset if limits are off. */
  network?: Uint8Array | undefined;
  /**
   * Called before a new valid submission is stored, and again on each retry. Throws an error if the submission exceeds
   * a rate limit.
   */
  charge?: () => void;
}

interface CreateOptions {
  submitter: Submitter;
  suspectedSpam?: boolean;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
}

/** A stored submission. `created` is false if an earlier request with the same idempotency key created it. */
export interface WrittenSubmission {
  row: SubmissionRow;
  makerKey: string;
  created: boolean;
}

/**
 * The maximum number of valid maker keys per submission. Only hashes are stored, so a retried request gets a new key,
 * and older keys stay valid.
 */
const MAX_KEYS = 5;

const INSERT = `INSERT INTO submissions
    (id, status, fields, launch_at, key_hashes, network, suspected_spam, created_at, updated_at, waiting_since)
  VALUES ($1, 'waiting', $2::jsonb, $3::timestamptz, $4::bytea[], $5::uuid, $6, $7::timestamptz, $7::timestamptz, $7::timestamptz)
  ON CONFLICT (id) DO NOTHING RETURNING *`;

const ADD_KEY = `UPDATE submissions SET key_hashes = (array_prepend($2::bytea, key_hashes))[1:${MAX_KEYS}] WHERE id = $1`;

const SELECT_EARLIER =
  'SELECT content, submission_id, created_at FROM submission_idempotency_keys WHERE id = $1::uuid AND created_at >= $2::timestamptz FOR UPDATE';

const SAVE_IDEMPOTENCY_KEY = `INSERT INTO submission_idempotency_keys (id, content, submission_id, created_at)
  VALUES ($1::uuid, $2::uuid, $3, $4::timestamptz)
  ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content, submission_id = EXCLUDED.submission_id, created_at = EXCLUDED.created_at`;

/**
 * Creates a submission that waits for a decision, and its maker key, of which only a hash is stored.
 * @throws CoreError `submission_invalid`, `too_many_waiting`, `idempotency_key_reused`, `overloaded`, `unavailable`, or
 * the error of `charge`.
 */
export async function createSubmission(
  database: Database,
  runtime: Runtime,
  sent: NewSubmission,
  { submitter, suspectedSpam = false, recordEvents }: CreateOptions,
): Promise<WrittenSubmission> {
  const now = runtime.now();
  const idempotencyId = idempotencyIdOf(submitter);
  const makerKey = createToken();
  return transactionWithRetries(database, async (sql) => {
    // The lock also ensures that two concurrent requests with the same idempotency key create only one submission.
    const secret = await lockQueue(sql);
    const earlier = idempotencyId === undefined ? undefined : await findEarlier(sql, idempotencyId, now);
    // A repeated request stays valid even if its launch time has passed.
    const { fields, launchAt = null } = checkFields(sent, earlier?.created_at ?? now);
    const draft = { fields: { ...NO_FIELDS, ...fields }, launchAt, suspectedSpam };
    const content = digestOf([draft.fields, launchAt]);
    if (earlier && earlier.content !== content) throw idempotencyKeyReused('submission');
    const repeated = earlier && (await readSubmissionRow(sql, earlier.submission_id));
    if (repeated) return repeat(sql, repeated, makerKey);
    const network = hashNetwork(secret, submitter.network);
    await requireQueueCapacity(sql, network);
    submitter.charge?.();
    const row = await insert(sql, draft, { makerKey, network, now });
    if (idempotencyId !== undefined) {
      await sql.query(SAVE_IDEMPOTENCY_KEY, [idempotencyId, content, row.id, now.toISOString()]);
    }
    const event = { timestamp: now.toISOString(), data: { submissionId: row.id } };
    await recordEvents?.(sql, [{ type: 'submission.created', ...event }]);
    await recordChange(sql, { productIds: [OPERATOR_QUEUE], catalogue: false });
    return { row, makerKey: makerKey.text, created: true };
  });
}

interface Draft {
  fields: SubmissionFields;
  launchAt: Date | null;
  suspectedSpam: boolean;
}

function idempotencyIdOf({ session, idempotencyKey }: Submitter): string | undefined {
  return idempotencyKey === undefined ? undefined : digestOf([session, idempotencyKey]);
}

function digestOf(value: unknown): string {
  return uuidOf(createHash('sha256').update(JSON.stringify(value)).digest('hex'));
}

/** An earlier request with the same idempotency key. */
interface EarlierRequest {
  content: string;
  submission_id: string;
  created_at: Date;
}

async function findEarlier(sql: Sql, id: string, now: Date): Promise<EarlierRequest | undefined> {
  return (await sql.query<EarlierRequest>(SELECT_EARLIER, [id, keyExpiry(now).toISOString()]))[0];
}

async function repeat(sql: Sql, row: SubmissionRow, makerKey: Token): Promise<WrittenSubmission> {
  await sql.query(ADD_KEY, [row.id, makerKey.hash]);
  return { row, makerKey: makerKey.text, created: false };
}

async function insert(
  sql: Sql,
  { fields, launchAt, suspectedSpam }: Draft,
  { makerKey, network, now }: { makerKey: Token; network: string | null; now: Date },
): Promise<SubmissionRow> {
  const [row] = await sql.query<SubmissionRow>(INSERT, [
    await freeIdFor(sql, fields.name, suspectedSpam),
    JSON.stringify(fields),
    launchAt?.toISOString() ?? null,
    [makerKey.hash],
    network,
    suspectedSpam,
    now.toISOString(),
  ]);
  if (row) return row;
  // The id is taken despite its random suffix.
  throw new CoreError('overloaded', 'No free id was found for this submission. Please try again.');
}

/** The last number that is tried for an id before a random suffix is used. */
const MAX_NUMBER = 20;

// Uses two statements, because products may be distributed over several servers.
const SELECT_TAKEN = [
  'SELECT id FROM products WHERE id = ANY($1::text[])',
  `SELECT id FROM submissions WHERE id = ANY($1::text[])
   UNION ALL SELECT product_id FROM removed_products WHERE product_id = ANY($1::text[])`,
];

/**
 * Chooses the id of a submission's product: a slug of its name, with a number if the slug is taken. Suspected spam
 * always gets a random suffix, so it cannot take the ids of other products.
 */
async function freeIdFor(sql: Sql, name: string, suspectedSpam: boolean): Promise<string> {
  const slug = slugOfName(name);
  const random = `${slug}-${randomBytes(4).toString('hex').slice(0, 7)}`;
  if (suspectedSpam) return random;
  const candidates = [slug, ...Array.from({ length: MAX_NUMBER - 1 }, (_, index) => `${slug}-${index + 2}`)];
  const taken = new Set<string>();
  for (const statement of SELECT_TAKEN) {
    for (const { id } of await sql.query<{ id: string }>(statement, [candidates])) taken.add(id);
  }
  return candidates.find((id) => !taken.has(id)) ?? random;
}

const ADD_SECRET = "INSERT INTO site_secrets (name, secret) VALUES ('submissions', $1) ON CONFLICT (name) DO NOTHING";
const LOCK_SECRET = "SELECT secret FROM site_secrets WHERE name = 'submissions' FOR UPDATE";
const COUNT_WAITING =
  "SELECT count(*)::integer AS waiting FROM submissions WHERE network = $1::uuid AND status = 'waiting'";

/**
 * Serializes new submissions until the transaction ends, so the number of waiting submissions is exact. To prevent
 * deadlocks, call it after everything else is locked. The only exception is a repeated request, which locks its
 * submission later and is retried after a deadlock.
 * @returns the secret with which networks are hashed.
 */
export async function lockQueue(sql: Sql): Promise<Buffer> {
  const [present] = await sql.query<{ secret: Buffer }>(LOCK_SECRET);
  if (present) return present.secret;
  await sql.query(ADD_SECRET, [randomBytes(32)]);
  const [added] = await sql.query<{ secret: Buffer }>(LOCK_SECRET);
  if (added === undefined) throw new Error('Cannot store the secret for submissions');
  return added.secret;
}

/**
 * Checks that no submission has reserved the id of a product that this transaction adds. Calls `lockQueue`, so the
 * transaction must commit soon: new submissions wait until it ends.
 * @throws CoreError `overloaded`, after which `insertWithRetries` chooses other ids.
 */
export async function requireUnreserved(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockQueue(sql);
  const reserved = await sql.query('SELECT 1 FROM submissions WHERE id = ANY($1::text[]) LIMIT 1', [ids]);
  if (reserved.length === 0) return;
  throw new CoreError('overloaded', 'A submission has just reserved the id of a new product. Please try again.');
}

/** Hashes the prefix of a network. Returns null without one, which means that limits are off. */
export function hashNetwork(secret: Buffer, prefix: Uint8Array | undefined): string | null {
  return prefix === undefined ? null : networkOf(secret, prefix);
}

/**
 * Checks that a hashed network may have one more waiting submission. Must be called after `lockQueue`.
 * @throws CoreError `too_many_waiting`.
 */
export async function requireQueueCapacity(sql: Sql, network: string | null): Promise<void> {
  if (network === null) return;
  const [row] = await sql.query<{ waiting: number }>(COUNT_WAITING, [network]);
  if ((row?.waiting ?? 0) < SUBMISSION_LIMITS.waitingPerNetwork) return;
  throw new CoreError(
    'too_many_waiting',
    `At most ${SUBMISSION_LIMITS.waitingPerNetwork} submissions from this network may wait for a decision. Please try again when one of them has been decided.`,
  );
}
