import { createHash } from 'node:crypto';
import { type Period, parsePeriod } from '../../contract/leaderboards/period.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts, holdSnapshot, readInBatches } from '../database/transactions.ts';
import type { Runtime } from '../runtime.ts';
import { createReadLimiter, type ReadLimiter } from '../semaphore.ts';
import {
  describePeriod,
  firstLaunch,
  isCovered,
  LEADERBOARD_COLUMNS,
  type LeaderboardRow,
  type LeaderboardRules,
} from './get-leaderboard.ts';
import { LAUNCH_VOTES, WINDOW_VOTES } from './launch-votes.ts';
import {
  emptyHeaderLine,
  headerPieces,
  readTallyParts,
  type TallyHeader,
  type TallyProduct,
  type TallyVote,
  voteLine,
  voterOf,
} from './tally-file.ts';
import { readSecret } from './vote-networks.ts';

/** A snapshot of the tally of a day. */
export interface Tally {
  /** Changes whenever the file changes. */
  version: string;
  /** Yields the file in chunks. May be called only inside `use`. */
  chunks(): AsyncGenerator<string>;
}

/**
 * Passes a snapshot of the tally of a day to `use`. The snapshot is valid until `use` resolves. For an open or
 * provisional day, the tally is computed from the votes; for a finalized day, it is the stored file.
 * @returns false for a day that has neither launches nor a final result, and that ends before the site's first
 * launch, begins after now, or is skipped by the time zone.
 * @throws CoreError `bad_period` if the period is not a day, `unavailable`.
 */
export async function readTally(
  database: Database,
  name: string,
  { rules, runtime }: { rules: LeaderboardRules; runtime: Runtime },
  use: (tally: Tally) => Promise<void>,
): Promise<boolean> {
  const period = parsePeriod(name);
  if (period?.kind !== 'day')
    throw new CoreError('bad_period', 'Only days have tallies. Request a day, such as 2026-11-21.');
  // Reads the secret before the read-only snapshot begins, because the first reader of a day stores a new secret.
  const secret = (await isUndecided(database, name)) ? await readSecret(database, name, runtime) : undefined;
  return database.transaction(async (sql) => {
    await holdSnapshot(sql);
    await disableTimeouts(sql);
    const [board] = await sql.query<TallyBoard>(
      `SELECT ${LEADERBOARD_COLUMNS}, b.xmin::text AS stored_by FROM leaderboards b WHERE period = $1`,
      [name],
    );
    if (!isCovered(period, board, await firstLaunch(sql, rules.now), rules)) return false;
    await use(await openTally(sql, period, board, rules, secret));
    return true;
  });
}

interface TallyBoard extends LeaderboardRow {
  /**
   * The id of the transaction that stored the row. It is part of the tally's version, because a restore may reset
   * `window_changes`.
   */
  stored_by: string;
}

/** Returns whether a day has a leaderboard that is not final. */
export async function isUndecided(sql: Sql, day: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM leaderboards WHERE period = $1 AND final_at IS NULL', [day]);
  return rows.length > 0;
}

async function openTally(
  sql: Sql,
  period: Period,
  board: TallyBoard | undefined,
  rules: LeaderboardRules,
  secret: Buffer | undefined,
): Promise<Tally> {
  const { digest, ...described } = describePeriod(period, board, rules);
  const header = { ...described, timeZone: board?.time_zone ?? rules.timeZone };
  if (digest !== null)
    return {
      version: digest,
      async *chunks() {
        yield* readHeader(sql, header);
        for await (const { text } of readTallyParts(sql, period.name)) yield text;
      },
    };
  const ids: string[] = [];
  // The version depends on the secret, because databases have different secrets and therefore different hashes of
  // voters.
  const hash = createHash('sha256').update(
    `${emptyHeaderLine(header)}${board?.stored_by} ${secret && voterOf(secret, '')}`,
  );
  for await (const launches of readLaunches(sql, period.name)) {
    for (const { product_id: id, launched_at, window_changes } of launches) {
      ids.push(id);
      hash.update(`\n${id} ${launched_at.toISOString()} ${window_changes}`);
    }
  }
  if (ids.length > 0 && secret === undefined) {
    throw new CoreError('unavailable', 'The first launch of this day has just begun. Please try again in a moment.');
  }
  return {
    version: `open:${hash.digest('hex')}`,
    async *chunks() {
      yield* readHeader(sql, header);
      if (secret === undefined) return;
      for (let start = 0; start < ids.length; start += BATCH_ROWS) {
        const batch = ids.slice(start, start + BATCH_ROWS);
        for await (const votes of readVotes(sql, batch, secret)) yield votes.map(voteLine).join('');
      }
    },
  };
}

interface TallyLaunch {
  product_id: string;
  launched_at: Date;
  /** Incremented by every change to the votes in the window. */
  window_changes: number;
}

const SELECT_LAUNCHES = `SELECT l.product_id, l.launched_at, c.window_changes
  FROM launches l JOIN product_counts c ON c.product_id = l.product_id WHERE l.day = $1 ORDER BY l.product_id`;

/** Reads the launches of a day. The restrictions of `readInBatches` apply. */
function readLaunches(sql: Sql, day: string): AsyncGenerator<TallyLaunch[]> {
  return readInBatches<TallyLaunch>(sql, SELECT_LAUNCHES, { values: [day], batchRows: BATCH_ROWS });
}

/** Reads the header of a tally with the launches of its day, in pieces. The restrictions of `readInBatches` apply. */
export function readHeader(sql: Sql, header: TallyHeader): AsyncGenerator<string> {
  return headerPieces(header, productsOf(readLaunches(sql, header.period)));
}

async function* productsOf(batches: AsyncIterable<TallyLaunch[]>): AsyncGenerator<TallyProduct[]> {
  for await (const launches of batches)
    yield launches.map((row) => ({ id: row.product_id, launchedAt: row.launched_at.toISOString() }));
}

/**
 * Why a vote does not count (`network`: it exceeds the cap; `operator`: the operator excluded it), or `included` if the
 * operator included it; null if it counts without a decision.
 */
export type Verdict = 'network' | 'operator' | 'included' | null;

interface VoteRow {
  product_id: string;
  user_session: string;
  created_at: Date;
  verdict: Verdict;
}

/** A vote for a launch, with its non-public fields. */
export interface LaunchVote extends TallyVote {
  session: string;
  verdict: Verdict;
}

const BATCH_ROWS = 1_000;

const selectVotes = (votes: string) => `SELECT product_id, user_session, created_at, verdict FROM (${votes}) AS v
  ORDER BY product_id, date_trunc('second', created_at)`;

const SELECT_WINDOW_VOTES = selectVotes(WINDOW_VOTES);
const SELECT_LAUNCH_VOTES = selectVotes(LAUNCH_VOTES);

/**
 * Reads the votes of these launches in batches, in the order of the tally: the `WINDOW_VOTES` or, if `inWindow` is
 * false, all `LAUNCH_VOTES`. Holds in memory one batch, and the votes for one product within one second. The
 * restrictions of `readInBatches` apply.
 */
export async function* readVotes(
  sql: Sql,
  productIds: readonly string[],
  secret: Buffer,
  { inWindow = true }: { inWindow?: boolean } = {},
): AsyncGenerator<LaunchVote[]> {
  const select = inWindow ? SELECT_WINDOW_VOTES : SELECT_LAUNCH_VOTES;
  let sameSecond: LaunchVote[] = [];
  for await (const rows of readInBatches<VoteRow>(sql, select, { values: [productIds], batchRows: BATCH_ROWS })) {
    const sorted: LaunchVote[] = [];
    for (const row of rows) {
      const vote = voteOf(row, secret);
      if (sameSecond[0] !== undefined && !isSameSecond(sameSecond[0], vote)) {
        sorted.push(...sameSecond.sort(byVoter));
        sameSecond = [];
      }
      sameSecond.push(vote);
    }
    if (sorted.length > 0) yield sorted;
  }
  if (sameSecond.length > 0) yield sameSecond.sort(byVoter);
}

function voteOf(row: VoteRow, secret: Buffer): LaunchVote {
  const { product_id: product, user_session: session, created_at: at, verdict } = row;
  const reason = verdict === 'included' ? null : verdict;
  return { product, voter: voterOf(secret, session), at, reason, session, verdict };
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

/**
 * Maximum number of tallies that one process reads at a time. Each read holds a connection and a snapshot of the
 * database.
 */
const MAX_TALLIES = 3;

/** The share of a pool's connections that tallies may hold; other requests need the rest. */
const MAX_SHARE = 1 / 3;

/** Limits concurrent reads of tallies, in total and to one per reader. */
export function createTallyLimiter(maxConnections: number, timeoutMs?: number, turnMs?: number): ReadLimiter {
  const max = Math.max(1, Math.min(MAX_TALLIES, Math.floor(maxConnections * MAX_SHARE)));
  return createReadLimiter({ max, what: 'tallies', timeoutMs, turnMs });
}
