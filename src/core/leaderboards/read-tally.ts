import { createHash } from 'node:crypto';
import { type Period, parsePeriod } from '../../contract/leaderboards/period.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts, holdSnapshot } from '../database/transactions.ts';
import type { Runtime } from '../runtime.ts';
import {
  describePeriod,
  isCovered,
  LEADERBOARD_COLUMNS,
  type LeaderboardRow,
  type LeaderboardRules,
} from './get-leaderboard.ts';
import { headerLine, type TallyHeader, voteLine } from './tally-format.ts';
import { readTallyParts } from './tally-parts.ts';
import { readWindowVotes } from './tally-votes.ts';
import { readSecret } from './vote-networks.ts';

/** The tally of a day as of one moment. */
export interface Tally {
  /** Changes whenever the file changes. */
  version: string;
  /** The file in chunks; read it inside `use`. */
  lines(): AsyncGenerator<string>;
}

/**
 * Passes the tally of a day to `use`, as of one snapshot that lasts until `use` is done. An open or provisional day is
 * read from the votes; a final one is the stored file.
 * @returns false for a day that ends before the site's first launch or begins after now.
 * @throws CoreError `bad_period` for anything but a day, `unavailable`.
 */
export async function readTally(
  database: Database,
  name: string,
  { rules, runtime }: { rules: LeaderboardRules; runtime: Runtime },
  use: (tally: Tally) => Promise<void>,
): Promise<boolean> {
  const period = parsePeriod(name);
  if (period?.kind !== 'day') throw new CoreError('bad_period', 'Only a day has a tally, such as 2026-11-21.');
  // Before the read-only snapshot: the first reader of a day may have to create its secret.
  const secret = (await isUndecided(database, name)) ? await readSecret(database, name, runtime) : undefined;
  return database.transaction(async (sql) => {
    await holdSnapshot(sql);
    await disableTimeouts(sql);
    if (!(await isCovered(sql, period, rules))) return false;
    await use(await openTally(sql, period, rules, secret));
    return true;
  });
}

async function isUndecided(sql: Sql, day: string): Promise<boolean> {
  const rows = await sql.query('SELECT FROM leaderboards WHERE period = $1 AND final_at IS NULL', [day]);
  return rows.length > 0;
}

async function openTally(
  sql: Sql,
  period: Period,
  rules: LeaderboardRules,
  secret: Buffer | undefined,
): Promise<Tally> {
  const [board] = await sql.query<LeaderboardRow>(
    `SELECT ${LEADERBOARD_COLUMNS} FROM leaderboards b WHERE period = $1`,
    [period.name],
  );
  const launches = await readLaunches(sql, period.name);
  const header = headerOf(period, board, launches, rules);
  if (board?.digest)
    return {
      version: board.digest,
      async *lines() {
        yield headerLine(header);
        for await (const { text } of readTallyParts(sql, period.name)) yield text;
      },
    };
  if (launches.length > 0 && secret === undefined) {
    throw new CoreError('unavailable', 'The first launch of this day has just begun. Please try again in a moment.');
  }
  return {
    version: versionOf(header, launches),
    async *lines() {
      yield headerLine(header);
      if (secret === undefined) return;
      const ids = launches.map(({ product_id: id }) => id);
      for await (const votes of readWindowVotes(sql, ids, secret)) yield votes.map(voteLine).join('');
    },
  };
}

export interface TallyLaunch {
  product_id: string;
  launched_at: Date;
  /** Incremented by every change of the votes in the window. */
  window_changes: number;
}

export function readLaunches(sql: Sql, day: string): Promise<TallyLaunch[]> {
  return sql.query<TallyLaunch>(
    `SELECT l.product_id, l.launched_at, c.window_changes
     FROM launches l JOIN product_counts c ON c.product_id = l.product_id WHERE l.day = $1 ORDER BY l.product_id`,
    [day],
  );
}

function headerOf(
  period: Period,
  board: LeaderboardRow | undefined,
  launches: readonly Pick<TallyLaunch, 'product_id' | 'launched_at'>[],
  rules: LeaderboardRules,
): TallyHeader {
  const { from, to, status, revision } = describePeriod(period, board, rules);
  const products = launches.map((row) => ({ id: row.product_id, launchedAt: row.launched_at.toISOString() }));
  const timeZone = board?.time_zone ?? rules.timeZone;
  return { period: period.name, timeZone, from, to, status, revision, products };
}

function versionOf(header: TallyHeader, launches: readonly TallyLaunch[]): string {
  const changes = launches.map((row) => row.window_changes).join();
  return `open:${createHash('sha256')
    .update(`${headerLine(header)}${changes}`)
    .digest('hex')}`;
}
