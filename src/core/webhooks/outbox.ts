import { createHash } from 'node:crypto';
import type { WebhookEvent } from '../../contract/webhooks/schema.ts';
import type { Sql } from '../database/database.ts';
import { DAY_MS, HOUR_MS, orderedUuid } from '../runtime.ts';
import type { ReceiverAddress } from './send-event.ts';

/**
 * Records events in the outbox, in the transaction of the change that they report. Operations get this function only if
 * a receiver is configured.
 */
export type RecordEvents = (sql: Sql, events: readonly WebhookEvent[]) => Promise<void>;

/** The number of hours for which the delivery of an event is attempted. */
export const EXPIRY_HOURS = 24;

const INSERT_EVENTS = `INSERT INTO webhook_events (id, type, body, created_at, expires_at, next_attempt_at)
  SELECT id, type, body, clock_timestamp(), clock_timestamp() + interval '${EXPIRY_HOURS} hours', clock_timestamp()
  FROM jsonb_to_recordset($1::jsonb) AS row (id uuid, type text, body text)`;

/** Adds events to the outbox. @throws CoreError `unavailable`. */
export const recordEvents: RecordEvents = async (sql, events) => {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ id: orderedUuid(), type: event.type, body: JSON.stringify(event) }));
  await sql.query(INSERT_EVENTS, [JSON.stringify(rows)]);
};

export interface DueEvent {
  id: string;
  type: string;
  body: string;
  /** The number of failed attempts so far. */
  attempts: number;
}

/**
 * Returns the hash that identifies a receiver in the database, because its URL may contain a secret. The same URL with
 * another user or password is another receiver.
 */
export function receiverOf({ url, authorization = '' }: ReceiverAddress): string {
  return createHash('sha256').update(url).update(authorization).digest('hex');
}

/** The maximum time between two attempts. */
export const MAX_RETRY_DELAY_MS = HOUR_MS;

/**
 * The condition on events that are due. An event that would wait longer than the maximum delay is due, too: its time
 * was stored before the database's clock was set back.
 */
const IS_DUE = `(next_attempt_at <= $1::timestamptz
  OR next_attempt_at > $1::timestamptz + ${MAX_RETRY_DELAY_MS} * interval '1 millisecond') AND expires_at > $1::timestamptz`;

const SELECT_IS_DUE = `SELECT EXISTS (SELECT FROM webhook_events WHERE ${IS_DUE})
  AND NOT EXISTS (SELECT FROM webhook_receivers WHERE url_digest = $2 AND gone_at IS NOT NULL) AS is_due`;

/** Returns whether an event is due and the receiver has not responded with 410. @throws CoreError `unavailable`. */
export async function isDeliveryDue(sql: Sql, receiver: string, now: Date): Promise<boolean> {
  const [row] = await sql.query<{ is_due: boolean }>(SELECT_IS_DUE, [now.toISOString(), receiver]);
  return row?.is_due ?? false;
}

/**
 * Reads the events that are due, in the order of their schedule. `except` contains the ids of events that are being
 * sent.
 * @throws CoreError `unavailable`.
 */
export function readDueEvents(sql: Sql, now: Date, except: readonly string[], limit: number): Promise<DueEvent[]> {
  return sql.query<DueEvent>(
    `SELECT id, type, body, attempts FROM webhook_events WHERE ${IS_DUE} AND id <> ALL($2::uuid[])
     ORDER BY next_attempt_at, created_at, id LIMIT ${limit}`,
    [now.toISOString(), except],
  );
}

const SET_DELIVERED = 'UPDATE webhook_events SET delivered_at = $2::timestamptz, next_attempt_at = NULL WHERE id = $1';

const NOTE_SUCCESS = 'UPDATE webhook_receivers SET failing_since = NULL, last_failure = NULL WHERE url_digest = $1';

/** Records a successful delivery. @throws CoreError `unavailable`. */
export async function recordDelivery(sql: Sql, receiver: string, id: string, now: Date): Promise<void> {
  await sql.query(SET_DELIVERED, [id, now.toISOString()]);
  await sql.query(NOTE_SUCCESS, [receiver]);
}

const SET_FAILED = `UPDATE webhook_events SET attempts = attempts + 1, last_failure = $2,
    next_attempt_at = CASE WHEN $3::timestamptz < expires_at THEN $3::timestamptz END
  WHERE id = $1 AND delivered_at IS NULL RETURNING next_attempt_at IS NULL AS has_expired`;

const NOTE_FAILURE = `INSERT INTO webhook_receivers AS receiver (url_digest, failing_since, last_failure, gone_at)
  VALUES ($1, $2::timestamptz, $3, CASE WHEN $4 THEN $2::timestamptz END)
  ON CONFLICT (url_digest) DO UPDATE SET failing_since = coalesce(receiver.failing_since, EXCLUDED.failing_since),
    last_failure = EXCLUDED.last_failure, gone_at = coalesce(receiver.gone_at, EXCLUDED.gone_at)`;

interface FailedAttempt {
  id: string;
  /** A description of the failure, without the URL. */
  failure: string;
  nextAttemptAt: Date;
  /** Whether the receiver responded with 410, which means that it wants no more events. */
  isGone: boolean;
}

/**
 * Records a failed attempt. If another process has delivered the event in the meantime, for example while this process
 * was suspended, the failure says nothing about the receiver and is not recorded, unless the response was 410.
 * @returns whether the event has expired, because its next attempt would be too late, or undefined if nothing was
 * recorded.
 * @throws CoreError `unavailable`.
 */
export async function recordFailure(
  sql: Sql,
  receiver: string,
  { id, failure, nextAttemptAt, isGone }: FailedAttempt,
  now: Date,
): Promise<boolean | undefined> {
  const [row] = await sql.query<{ has_expired: boolean }>(SET_FAILED, [id, failure, nextAttemptAt.toISOString()]);
  if (row === undefined && !isGone) return undefined;
  await sql.query(NOTE_FAILURE, [receiver, now.toISOString(), failure, isGone]);
  return row?.has_expired ?? false;
}

/**
 * Marks as expired the events that could not be delivered in time, for example because the receiver is gone.
 * @returns the number of expired events.
 * @throws CoreError `unavailable`.
 */
export async function expireEvents(sql: Sql, now: Date): Promise<number> {
  const rows = await sql.query(
    'UPDATE webhook_events SET next_attempt_at = NULL WHERE next_attempt_at IS NOT NULL AND expires_at <= $1::timestamptz RETURNING id',
    [now.toISOString()],
  );
  return rows.length;
}

const RETRY = `UPDATE webhook_events SET next_attempt_at = $1::timestamptz,
    expires_at = $1::timestamptz + interval '${EXPIRY_HOURS} hours'
  WHERE delivered_at IS NULL RETURNING id`;

/**
 * Makes all undelivered events due now, including expired ones, and resumes deliveries to a receiver that responded
 * with 410.
 * @returns the number of these events.
 * @throws CoreError `unavailable`.
 */
export async function retryEvents(sql: Sql, receiver: string, now: Date): Promise<number> {
  await sql.query('UPDATE webhook_receivers SET gone_at = NULL WHERE url_digest = $1', [receiver]);
  return (await sql.query(RETRY, [now.toISOString()])).length;
}

/** How long events are stored, whether delivered or not. Retried events are stored until they expire. */
const RETENTION_DAYS = 7;

/** Deletes old events. @throws CoreError `unavailable`. */
export async function deleteOldEvents(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM webhook_events WHERE created_at < $1::timestamptz AND expires_at <= $2::timestamptz', [
    new Date(now.getTime() - RETENTION_DAYS * DAY_MS).toISOString(),
    now.toISOString(),
  ]);
}

/** An event in the outbox, for `webhooks list`. */
export interface OutboxEvent {
  id: string;
  type: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  state: 'waiting' | 'delivered' | 'expired';
  /** The number of failed attempts. */
  attempts: number;
  lastFailure: string | null;
  nextAttemptAt: string | null;
}

interface OutboxRow {
  id: string;
  type: string;
  created_at: Date;
  attempts: number;
  delivered_at: Date | null;
  next_attempt_at: Date | null;
  last_failure: string | null;
}

/** Lists the newest events, newest first. @throws CoreError `unavailable`. */
export async function listEvents(
  sql: Sql,
  { limit, undeliveredOnly = false }: { limit: number; undeliveredOnly?: boolean },
): Promise<OutboxEvent[]> {
  const rows = await sql.query<OutboxRow>(
    `SELECT id, type, created_at, attempts, delivered_at, next_attempt_at, last_failure FROM webhook_events
     ${undeliveredOnly ? 'WHERE delivered_at IS NULL' : ''} ORDER BY created_at DESC, id DESC LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    createdAt: row.created_at.toISOString(),
    state: row.delivered_at ? 'delivered' : row.next_attempt_at ? 'waiting' : 'expired',
    attempts: row.attempts,
    lastFailure: row.delivered_at ? null : row.last_failure,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  }));
}

/** The state of the outbox and of the receiver, for metrics and `doctor`. */
export interface WebhookStatus {
  waiting: number;
  /** The number of stored events that expired undelivered. */
  expired: number;
  /** When the current series of failures began; null if the last attempt succeeded or there was none. */
  failingSince: Date | null;
  lastFailure: string | null;
  /** When the receiver responded with 410, which stopped deliveries; null if it has not. */
  goneAt: Date | null;
}

interface StatusRow {
  waiting: number;
  expired: number;
  failing_since: Date | null;
  last_failure: string | null;
  gone_at: Date | null;
}

const SELECT_STATUS = `SELECT e.*, r.failing_since, r.last_failure, r.gone_at FROM (
    SELECT count(*) FILTER (WHERE next_attempt_at IS NOT NULL)::integer AS waiting,
      count(*) FILTER (WHERE next_attempt_at IS NULL)::integer AS expired
    FROM webhook_events WHERE delivered_at IS NULL
  ) AS e LEFT JOIN webhook_receivers r ON r.url_digest = $1`;

/** Reads the state of the outbox and of a receiver. @throws CoreError `unavailable`. */
export async function readWebhookStatus(sql: Sql, receiver: string): Promise<WebhookStatus> {
  const [row] = await sql.query<StatusRow>(SELECT_STATUS, [receiver]);
  return {
    waiting: row?.waiting ?? 0,
    expired: row?.expired ?? 0,
    failingSince: row?.failing_since ?? null,
    lastFailure: row?.last_failure ?? null,
    goneAt: row?.gone_at ?? null,
  };
}
