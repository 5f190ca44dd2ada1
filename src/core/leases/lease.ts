import { randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';

/** The names of jobs that only one process at a time may run. */
export type LeaseName = 'scheduled backup' | 'final leaderboards' | 'webhook deliveries';

export interface Lease {
  /** A random tag that identifies this database in file names. */
  tag: string;
  /** The database's time when the lease was acquired. */
  begunAt: Date;
}

const ACQUIRE = `INSERT INTO leases AS present (name, tag, holder, expires_at)
  VALUES ($1, $2, $3::uuid, clock_timestamp() + $4::integer * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, expires_at = EXCLUDED.expires_at
    WHERE present.expires_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + $6::integer * interval '1 millisecond'
      AND (present.last_run_at IS NULL
        OR present.last_run_at NOT BETWEEN clock_timestamp() - $5::bigint * interval '1 millisecond' AND clock_timestamp())
  RETURNING tag, clock_timestamp() AS begun_at`;

/**
 * Acquires a lease if it is free and the last completed run of its job began longer ago than `intervalMs`. PostgreSQL
 * serializes the statements of concurrent callers, so only one gets the lease. A last run in the future, and an expiry
 * more than `maxLeaseMs` from now, are ignored, because they were stored before the database's clock was set back.
 * @returns undefined if the lease is not free or the job is not due.
 */
export async function acquireLease(
  sql: Sql,
  name: LeaseName,
  {
    holder,
    intervalMs,
    leaseMs,
    maxLeaseMs,
  }: { holder: string; intervalMs: number; leaseMs: number; maxLeaseMs: number },
): Promise<Lease | undefined> {
  const tag = randomBytes(4).toString('hex');
  const [row] = await sql.query<{ tag: string; begun_at: Date }>(ACQUIRE, [
    name,
    tag,
    holder,
    leaseMs,
    intervalMs,
    maxLeaseMs,
  ]);
  return row && { tag: row.tag, begunAt: row.begun_at };
}

/** Extends a lease until `leaseMs` from now. @returns false if another process holds it. */
export async function renewLease(sql: Sql, name: LeaseName, holder: string, leaseMs: number): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE leases SET expires_at = clock_timestamp() + $3::integer * interval '1 millisecond'
     WHERE name = $1 AND holder = $2::uuid RETURNING name`,
    [name, holder, leaseMs],
  );
  return rows.length > 0;
}

/**
 * Releases a lease after a run of its job. `ranAt` is when a completed run began. After a failed run, any process may
 * acquire the lease once `pauseMs` has passed. Does nothing if another process has acquired the lease.
 */
export async function releaseLease(
  sql: Sql,
  name: LeaseName,
  holder: string,
  outcome: { ranAt: Date } | { pauseMs: number },
): Promise<void> {
  const ranAt = 'ranAt' in outcome ? outcome.ranAt.toISOString() : null;
  const pauseMs = 'pauseMs' in outcome ? outcome.pauseMs : 0;
  await sql.query(
    `UPDATE leases SET expires_at = clock_timestamp() + $4::integer * interval '1 millisecond',
       last_run_at = coalesce($3::timestamptz, last_run_at)
     WHERE name = $1 AND holder = $2::uuid`,
    [name, holder, ranAt, pauseMs],
  );
}

/** Returns when the last completed run of a job began, in any process, or undefined if none has completed. */
export async function lastRunAt(sql: Sql, name: LeaseName): Promise<Date | undefined> {
  const [row] = await sql.query<{ last_run_at: Date | null }>('SELECT last_run_at FROM leases WHERE name = $1', [name]);
  return row?.last_run_at ?? undefined;
}

/** Returns this database's tag in the names of a job's files, or undefined if the job has never run. */
export async function leaseTag(sql: Sql, name: LeaseName): Promise<string | undefined> {
  const [row] = await sql.query<{ tag: string }>('SELECT tag FROM leases WHERE name = $1', [name]);
  return row?.tag;
}
