import type { Sql } from '../database/database.ts';

/** An event in the outbox, for `webhooks list`. */
export interface OutboxEvent {
  id: string;
  type: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  state: 'waiting' | 'delivered' | 'expired';
  /** Failed attempts. */
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

/** The newest events, newest first. @throws CoreError `unavailable`. */
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

/** The outbox and its receiver, for metrics and `doctor`. */
export interface WebhookStatus {
  waiting: number;
  /** Undelivered events that are still stored. */
  expired: number;
  oldestWaitingAt: Date | null;
  /** When attempts began to fail; null if the last attempt succeeded. */
  failingSince: Date | null;
  lastFailure: string | null;
  /** When the receiver answered 410, which stopped deliveries. */
  goneAt: Date | null;
}

interface StatusRow {
  waiting: number;
  expired: number;
  oldest: Date | null;
  failing_since: Date | null;
  last_failure: string | null;
  gone_at: Date | null;
}

const SELECT_STATUS = `SELECT e.*, r.failing_since, r.last_failure, r.gone_at FROM (
    SELECT count(*) FILTER (WHERE next_attempt_at IS NOT NULL)::integer AS waiting,
      count(*) FILTER (WHERE next_attempt_at IS NULL)::integer AS expired,
      min(created_at) FILTER (WHERE next_attempt_at IS NOT NULL) AS oldest
    FROM webhook_events WHERE delivered_at IS NULL
  ) AS e LEFT JOIN webhook_receivers r ON r.url_digest = $1`;

/** @throws CoreError `unavailable`. */
export async function readWebhookStatus(sql: Sql, receiver: string): Promise<WebhookStatus> {
  const [row] = await sql.query<StatusRow>(SELECT_STATUS, [receiver]);
  return {
    waiting: row?.waiting ?? 0,
    expired: row?.expired ?? 0,
    oldestWaitingAt: row?.oldest ?? null,
    failingSince: row?.failing_since ?? null,
    lastFailure: row?.last_failure ?? null,
    goneAt: row?.gone_at ?? null,
  };
}
