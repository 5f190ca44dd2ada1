import type { HourlyVotes } from '../../contract/leaderboards/schema.ts';
import type { Database, Sql } from '../database/database.ts';
import { holdSnapshot } from '../database/transactions.ts';
import { HOUR_MS } from '../runtime.ts';
import { WINDOW_MS } from './calendar.ts';
import { IS_COUNTED, WINDOW_VOTES } from './launch-votes.ts';
import { readTallyLines } from './tally-file.ts';

const SELECT_LAUNCH = 'SELECT launched_at, day, final FROM launches WHERE product_id = $1';

// Rounds times down to seconds like the tally, so the numbers do not change when the day becomes final. After rounding,
// a vote may precede the launch.
const SELECT_VOTES = `SELECT greatest(0, floor(extract(epoch FROM date_trunc('second', created_at) - $2::timestamptz) / 3600))::integer AS hour,
    count(*)::integer AS votes
  FROM (${WINDOW_VOTES}) AS w WHERE ${IS_COUNTED} GROUP BY 1`;

/**
 * Returns the number of counted votes in each hour of the launch window so far, or an empty list for an unknown
 * product.
 * @throws CoreError `unavailable`.
 */
export function readVotesByHour(database: Database, id: string, now: Date): Promise<HourlyVotes[]> {
  return database.transaction(async (sql) => {
    // All queries use one snapshot: if the day became final between two queries, the withdrawn votes that count would
    // already be deleted.
    await holdSnapshot(sql);
    const [launch] = await sql.query<{ launched_at: Date; day: string; final: boolean }>(SELECT_LAUNCH, [id]);
    if (launch === undefined) return [];
    const from = launch.launched_at.getTime();
    const votes = launch.final ? await countFinalVotes(sql, id, launch.day, from) : await countVotes(sql, id, from);
    const hours = Math.ceil((Math.min(now.getTime() + 1, from + WINDOW_MS) - from) / HOUR_MS);
    return Array.from({ length: hours }, (_, hour) => ({
      from: new Date(from + hour * HOUR_MS).toISOString(),
      votes: votes.get(hour) ?? 0,
    }));
  });
}

async function countVotes(sql: Sql, id: string, from: number): Promise<Map<number, number>> {
  const values = [[id], new Date(from).toISOString()];
  const rows = await sql.query<{ hour: number; votes: number }>(SELECT_VOTES, values);
  return new Map(rows.map(({ hour, votes }) => [hour, votes]));
}

async function countFinalVotes(sql: Sql, id: string, day: string, from: number): Promise<Map<number, number>> {
  const votes = new Map<number, number>();
  for await (const lines of readTallyLines(sql, day, id)) {
    for (const { at, counted } of lines) {
      const hour = Math.max(0, Math.floor((Date.parse(at) - from) / HOUR_MS));
      if (counted) votes.set(hour, (votes.get(hour) ?? 0) + 1);
    }
  }
  return votes;
}
