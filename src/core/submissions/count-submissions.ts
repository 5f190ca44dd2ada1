import type { Sql } from '../database/database.ts';

export interface WaitingSubmissions {
  waiting: number;
  suspectedSpam: number;
  /** When the oldest submission that is not suspected spam began to wait; `null` if there is none. */
  oldestSince: Date | null;
}

const SELECT_WAITING = `SELECT count(*)::integer AS waiting, (count(*) FILTER (WHERE suspected_spam))::integer AS spam,
    min(waiting_since) FILTER (WHERE NOT suspected_spam) AS oldest
  FROM submissions WHERE status = 'waiting'`;

/** Counts the submissions that wait for a decision. @throws CoreError `unavailable`. */
export async function countWaiting(sql: Sql): Promise<WaitingSubmissions> {
  const [row] = await sql.query<{ waiting: number; spam: number; oldest: Date | null }>(SELECT_WAITING);
  return { waiting: row?.waiting ?? 0, suspectedSpam: row?.spam ?? 0, oldestSince: row?.oldest ?? null };
}

/** The submissions of recent days by their outcome. */
export interface SubmissionStats {
  received: number;
  waiting: number;
  approved: number;
  declined: number;
  withdrawn: number;
}

const SELECT_STATS = `SELECT count(*)::integer AS received,
    (count(*) FILTER (WHERE status = 'waiting'))::integer AS waiting,
    (count(*) FILTER (WHERE status = 'approved'))::integer AS approved,
    (count(*) FILTER (WHERE status = 'declined'))::integer AS declined,
    (count(*) FILTER (WHERE status = 'withdrawn'))::integer AS withdrawn
  FROM submissions WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz`;

/** @throws CoreError `unavailable`. */
export async function readSubmissionStats(sql: Sql, since: Date, until: Date): Promise<SubmissionStats> {
  const [row] = await sql.query<SubmissionStats>(SELECT_STATS, [since.toISOString(), until.toISOString()]);
  return row ?? { received: 0, waiting: 0, approved: 0, declined: 0, withdrawn: 0 };
}
