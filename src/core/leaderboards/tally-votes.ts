import type { Sql } from '../database/database.ts';
import { WINDOW_VOTES } from './recount-launches.ts';
import { type TallyVote, voterOf } from './tally-format.ts';

interface VoteRow {
  product_id: string;
  id: string;
  user_session: string;
  created_at: Date;
  verdict: 'network' | 'operator' | 'included' | null;
}

/** A vote in a launch window, with its non-public fields. */
export interface WindowVote extends TallyVote {
  id: string;
  verdict: VoteRow['verdict'];
}

const BATCH_ROWS = 1_000;

const DECLARE = `DECLARE tally_votes NO SCROLL CURSOR FOR
  SELECT product_id, id, user_session, created_at, verdict FROM (${WINDOW_VOTES}) AS w
  ORDER BY product_id, date_trunc('second', created_at)`;

/**
 * Reads every vote that was cast in the windows of these launches, in the order of the tally, in batches. Bounded memory: a batch, and
 * the votes of one product within one second. Call it inside a transaction, one at a time.
 */
export async function* readWindowVotes(
  sql: Sql,
  productIds: readonly string[],
  secret: Buffer,
): AsyncGenerator<WindowVote[]> {
  await sql.query(DECLARE, [productIds]);
  let second: WindowVote[] = [];
  for (;;) {
    const rows = await sql.query<VoteRow>(`FETCH ${BATCH_ROWS} FROM tally_votes`);
    const sorted: WindowVote[] = [];
    for (const row of rows) {
      const vote = voteOf(row, secret);
      if (second[0] !== undefined && !isSameSecond(second[0], vote)) {
        sorted.push(...second.sort(byVoter));
        second = [];
      }
      second.push(vote);
    }
    if (sorted.length > 0) yield sorted;
    if (rows.length < BATCH_ROWS) break;
  }
  if (second.length > 0) yield second.sort(byVoter);
  await sql.query('CLOSE tally_votes');
}

function voteOf(row: VoteRow, secret: Buffer): WindowVote {
  const { product_id: product, id, user_session: session, created_at: at, verdict } = row;
  const reason = verdict === 'included' ? null : verdict;
  return { product, voter: voterOf(secret, session), at, reason, id, verdict };
}

function isSameSecond(one: TallyVote, other: TallyVote): boolean {
  return one.product === other.product && secondOf(one) === secondOf(other);
}

function secondOf({ at }: TallyVote): number {
  return Math.floor(at.getTime() / 1_000);
}

function byVoter(one: TallyVote, other: TallyVote): number {
  return one.voter < other.voter ? -1 : 1;
}
