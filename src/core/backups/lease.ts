import { randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';

/** What only one process at a time may do. */
export type LeaseName = 'scheduled backup';

export interface Lease {
  /** Marks the files of this database. */
  tag: string;
  /** The database's time when the lease was taken. */
  begunAt: Date;
}

const TAKE = `INSERT INTO leases AS present (name, tag, holder, held_until)
  VALUES ($1, $2, $3::uuid, clock_timestamp() + $4::integer * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
    WHERE present.held_until <= clock_timestamp()
      AND (present.done_at IS NULL OR present.done_at <= clock_timestamp() - $5::bigint * interval '1 millisecond')
  RETURNING tag, clock_timestamp() AS begun_at`;

/**
 * Takes a lease where nobody has it, and the last work of its name began longer ago than `everyMs`. One statement, which
 * PostgreSQL lets one caller at a time do: of many who ask at once, one gets it.
 */
export async function takeLease(
  sql: Sql,
  name: LeaseName,
  { holder, everyMs, heldMs }: { holder: string; everyMs: number; heldMs: number },
): Promise<Lease | undefined> {
  const tag = randomBytes(4).toString('hex');
  const [row] = await sql.query<{ tag: string; begun_at: Date }>(TAKE, [name, tag, holder, heldMs, everyMs]);
  return row && { tag: row.tag, begunAt: row.begun_at };
}

/** Moves the end of a lease on. @returns false where it is somebody else's by now. */
export async function keepLease(sql: Sql, name: LeaseName, holder: string, heldMs: number): Promise<boolean> {
  const rows = await sql.query(
    `UPDATE leases SET held_until = clock_timestamp() + $3::integer * interval '1 millisecond'
     WHERE name = $1 AND holder = $2::uuid RETURNING name`,
    [name, holder, heldMs],
  );
  return rows.length > 0;
}

/** Gives a lease back: its work is done, or failed and is not to be tried again by anybody before `pauseMs` are over. */
export async function endLease(
  sql: Sql,
  name: LeaseName,
  holder: string,
  outcome: { doneAt: Date } | { pauseMs: number },
): Promise<void> {
  const doneAt = 'doneAt' in outcome ? outcome.doneAt.toISOString() : null;
  const pauseMs = 'pauseMs' in outcome ? outcome.pauseMs : 0;
  await sql.query(
    `UPDATE leases SET held_until = clock_timestamp() + $4::integer * interval '1 millisecond',
       done_at = coalesce($3::timestamptz, done_at)
     WHERE name = $1 AND holder = $2::uuid`,
    [name, holder, doneAt, pauseMs],
  );
}

/** When the last work began that was brought to its end, by whichever process. */
export async function lastDoneAt(sql: Sql, name: LeaseName): Promise<Date | undefined> {
  const [row] = await sql.query<{ done_at: Date | null }>('SELECT done_at FROM leases WHERE name = $1', [name]);
  return row?.done_at ?? undefined;
}
