import { adjacentPeriod, type Period, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import type { Leaderboard, LeaderboardEntry } from '../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { PageQuery } from '../../contract/page-query.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, isCursorOf, type KeysetOrder, orderBy, pageOf } from '../keyset.ts';
import { boundsOf, isSkipped, statusAt, storedStatus, WINDOW_MS } from './calendar.ts';
import { emptyTallyDigest } from './tally-file.ts';

/** The current time, and the settings that determine periods and results. */
export interface LeaderboardRules {
  now: Date;
  /** The value of SITE_TIME_ZONE. */
  timeZone: string;
  /** The value of LEADERBOARD_REVIEW_HOURS. */
  reviewHours: number;
}

interface EntryRow {
  product_id: string;
  name: string;
  image: string;
  votes: number;
  tie_order: string;
  excluded: number;
  upvotes: number;
  comments: number;
  launched_at: Date;
  /** The number of launches with the same number of votes, including this one. */
  same: number;
  /** The number of launches with more votes. */
  more: number;
}

export interface LeaderboardRow {
  period: string;
  time_zone: string;
  from_at: Date;
  to_at: Date;
  final_at: Date | null;
  revision: number;
  revised_at: Date | null;
  digest: string | null;
  votes_per_network: number | null;
  launches: number;
}

/**
 * Returns the order of a board: launches with more votes first, then by `tieOrder`. The index sorts both columns in
 * ascending order, so it contains negated votes.
 */
function boardOrder(kind: PeriodKind): KeysetOrder<EntryRow> {
  return {
    name: `board-${kind}`,
    direction: 'ASC',
    columns: [
      { sql: '(-l.votes)', kind: 'negatedCount', keyOf: (row) => -row.votes },
      { sql: `l.${kind}_order`, kind: 'uuid', keyOf: (row) => row.tie_order },
    ],
  };
}

/** Returns whether a cursor belongs to leaderboards of this kind. */
export function isLeaderboardCursor(cursor: string, kind: PeriodKind): boolean {
  return isCursorOf(boardOrder(kind), cursor);
}

/** The columns of `LeaderboardRow` except the number of launches, from leaderboards `b`. */
export const BOARD_COLUMNS =
  'b.period, b.time_zone, b.from_at, b.to_at, b.final_at, b.revision, b.revised_at, b.digest, b.votes_per_network';

export const LEADERBOARD_COLUMNS = `${BOARD_COLUMNS},
  coalesce((SELECT sum(products) FROM leaderboard_counts h WHERE h.period = b.period), 0)::integer AS launches`;

/**
 * Reads one page of a leaderboard with keyset pagination. The cost of a page does not grow with the number of launches,
 * because ranks come from `leaderboard_counts`, a histogram of votes.
 * @returns null for a period that has neither launches nor a final result, and that ends before the site's first
 * launch, begins after now, or is skipped by the time zone.
 * @throws CoreError `bad_period` for an invalid name, `bad_cursor`, `unavailable`.
 */
export async function getLeaderboard(
  sql: Sql,
  name: string,
  { limit = LIMITS.pageSize.default, cursor = '' }: PageQuery,
  rules: LeaderboardRules,
): Promise<Leaderboard | null> {
  const period = parsePeriod(name);
  if (period === undefined)
    throw new CoreError(
      'bad_period',
      'A period is a day (2026-11-21), a week (2026-W47), a month (2026-11) or a year (2026).',
    );
  const [previous, next] = [neighbourOf(period, -1, rules), neighbourOf(period, 1, rules)];
  const boards = await sql.query<LeaderboardRow>(
    `SELECT ${LEADERBOARD_COLUMNS} FROM leaderboards b WHERE period = ANY($1::text[])`,
    [[period, previous, next].flatMap((each) => each?.name ?? [])],
    { isPrepared: true },
  );
  const boardOf = (each: Period) => boards.find((row) => row.period === each.name);
  const first = await firstLaunch(sql, rules.now);
  const covers = (each: Period | undefined) => each !== undefined && isCovered(each, boardOf(each), first, rules);
  if (!covers(period)) return null;
  const board = boardOf(period);
  const rows = await readEntries(sql, period, limit, cursor);
  const { shown, nextCursor } = pageOf(boardOrder(period.kind), rows, limit);
  return {
    ...describePeriod(period, board, rules),
    launches: board?.launches ?? 0,
    previousPeriod: previous !== undefined && covers(previous) ? previous.name : null,
    nextPeriod: next !== undefined && covers(next) ? next.name : null,
    items: shown.map(entryOf),
    nextCursor,
  };
}

/** Returns the previous (-1) or next (1) period that occurs in the site's time zone. Zones skip at most one day. */
function neighbourOf(period: Period, step: -1 | 1, { timeZone }: LeaderboardRules): Period | undefined {
  const neighbour = adjacentPeriod(period, step);
  return neighbour && isSkipped(neighbour, timeZone) ? adjacentPeriod(neighbour, step) : neighbour;
}

/** Returns the fields that describe a period and the status of its result. */
export function describePeriod(period: Period, board: LeaderboardRow | undefined, rules: LeaderboardRules) {
  const { timeZone } = rules;
  const { from, to } = board ? { from: board.from_at, to: board.to_at } : boundsOf(period, timeZone);
  const { status, finalAt } = statusAt(rules.now, to, rules.reviewHours);
  const named = { period: period.name, from: from.toISOString(), to: to.toISOString() };
  const isEmptyResult = board === undefined && period.kind === 'day' && status === 'final';
  return {
    ...named,
    kind: period.kind,
    status: board ? storedStatus(board, rules) : status,
    finalAt: (board?.final_at ?? finalAt).toISOString(),
    revision: board?.revision ?? 0,
    revisedAt: board?.revised_at?.toISOString() ?? null,
    digest: isEmptyResult ? emptyTallyDigest({ ...named, timeZone }) : (board?.digest ?? null),
  };
}

// Every revised day before the first launch had launches when its result became final. A day that became final without
// launches, for example after the sample was removed, has revision 0.
const SELECT_EMPTIED_DAY = `SELECT from_at FROM leaderboards
  WHERE kind = 'day' AND from_at <= $1::timestamptz AND final_at IS NOT NULL AND revision > 0 ORDER BY from_at LIMIT 1`;

/**
 * Returns the time of the first launch on a leaderboard, or `now` if there is none. If earlier launches were removed
 * after their results were final, returns the start of their first day, so later days without launches keep their final
 * results. Launches whose time changed count once they are on the boards of their new time.
 */
export async function firstLaunch(sql: Sql, now: Date): Promise<Date> {
  const [launch] = await sql.query<{ launched_at: Date }>(
    'SELECT launched_at FROM launches WHERE placed_for = launched_at ORDER BY launched_at LIMIT 1',
    [],
    { isPrepared: true },
  );
  const first = launch?.launched_at ?? now;
  const [emptied] = await sql.query<{ from_at: Date }>(SELECT_EMPTIED_DAY, [first.toISOString()], { isPrepared: true });
  return emptied?.from_at ?? first;
}

/**
 * Returns whether a period has launches or a final result, or overlaps the time between the site's first launch and
 * now, unless the time zone skips it. The bounds of a period may move outside this time if SITE_TIME_ZONE changes.
 */
export function isCovered(
  period: Period,
  board: LeaderboardRow | undefined,
  first: Date,
  { now, timeZone }: LeaderboardRules,
): boolean {
  if (board !== undefined && (board.launches > 0 || board.final_at !== null)) return true;
  const { from, to } = boundsOf(period, timeZone);
  return from < to && from <= now && to > first;
}

async function readEntries(sql: Sql, { name, kind }: Period, limit: number, cursor: string): Promise<EntryRow[]> {
  const order = boardOrder(kind);
  const { values, bind } = collectValues(name);
  return sql.query<EntryRow>(
    `WITH page AS MATERIALIZED (
       SELECT l.product_id, l.votes, l.${kind}_order AS tie_order, l.launched_at FROM launches l
       WHERE l.${kind} = $1 ${cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`}
       ORDER BY ${orderBy(order)} LIMIT ${limit + 1}
     ), places AS MATERIALIZED (
       SELECT votes, products,
         (SELECT coalesce(sum(products), 0) FROM leaderboard_counts WHERE period = $1 AND votes > (SELECT max(votes) FROM page))
           + sum(products) OVER (ORDER BY votes DESC) - products AS more
       FROM leaderboard_counts
       WHERE period = $1 AND products > 0 AND votes BETWEEN (SELECT min(votes) FROM page) AND (SELECT max(votes) FROM page)
     )
     SELECT page.*, p.name, p.image, c.upvotes, c.comments, c.excluded_network + c.excluded_operator AS excluded,
       coalesce(places.products, 1)::integer AS same, coalesce(places.more, 0)::integer AS more
     FROM page JOIN products p ON p.id = page.product_id JOIN product_counts c ON c.product_id = page.product_id
       LEFT JOIN places ON places.votes = page.votes
     ORDER BY page.votes DESC, page.tie_order`,
    values,
    { isPrepared: limit === LIMITS.pageSize.default },
  );
}

function entryOf(row: EntryRow): LeaderboardEntry {
  return {
    rank: row.more + 1,
    tied: row.same > 1,
    productId: row.product_id,
    name: row.name,
    image: row.image,
    votes: row.votes,
    excluded: row.excluded,
    upvotes: row.upvotes,
    comments: row.comments,
    launchedAt: row.launched_at.toISOString(),
    windowEndsAt: new Date(row.launched_at.getTime() + WINDOW_MS).toISOString(),
  };
}
