import { PERIOD_KINDS, type PeriodKind, parsePeriod } from '../../contract/leaderboards/period.ts';
import type { Standing, Standings } from '../../contract/leaderboards/schema.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import type { Sql } from '../database/database.ts';
import { WINDOW_MS } from './calendar.ts';
import { describePeriod, LEADERBOARD_COLUMNS, type LeaderboardRow, type LeaderboardRules } from './get-leaderboard.ts';

type LaunchRow = Record<PeriodKind, string> &
  Record<`${PeriodKind}_order`, string> & {
    launched_at: Date;
    votes: number;
    upvotes: number;
    excluded_network: number;
    excluded_operator: number;
  };

interface Neighbour {
  product_id: string;
  name: string;
  votes: number;
}

interface PlaceRow extends LeaderboardRow {
  more: number;
  same: number;
  above: Neighbour | null;
  below: Neighbour | null;
}

const SELECT_LAUNCH = `SELECT l.launched_at, l.votes, ${PERIOD_KINDS.map((kind) => `l.${kind}, l.${kind}_order`).join(', ')},
    c.upvotes, c.excluded_network, c.excluded_operator
  FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.product_id = $1 AND l.placed_for IS NOT NULL`;

/** SQL: the next launch on the board above or below a place, from the index of the board. */
const neighbour = (kind: PeriodKind, direction: 'above' | 'below') => `(
    SELECT to_jsonb(n) FROM (
      SELECT o.product_id, p.name, o.votes
      FROM (
        SELECT product_id, votes FROM launches
        WHERE ${kind} = $1 AND ((-votes), ${kind}_order) ${direction === 'above' ? '<' : '>'} (-$2::integer, $3::uuid)
        ORDER BY (-votes) ${direction === 'above' ? 'DESC' : 'ASC'}, ${kind}_order ${direction === 'above' ? 'DESC' : 'ASC'} LIMIT 1
      ) AS o JOIN products p ON p.id = o.product_id
    ) AS n
  ) AS ${direction}`;

/**
 * SQL: the place of a launch with the votes `$2` and the order `$3` in the period `$1`. They are parameters, because
 * Citus cannot join `launches` to a table of the coordinator here.
 */
const selectPlace = (kind: PeriodKind) => `SELECT ${LEADERBOARD_COLUMNS},
    coalesce((SELECT sum(products) FROM leaderboard_counts h WHERE h.period = b.period AND h.votes > $2::integer), 0)::integer AS more,
    coalesce((SELECT products FROM leaderboard_counts h WHERE h.period = b.period AND h.votes = $2::integer), 1) AS same,
    ${neighbour(kind, 'above')}, ${neighbour(kind, 'below')}
  FROM leaderboards b WHERE b.period = $1`;

/**
 * Reads the standing of a launch in its day, week, month and year. Its votes are those that order the boards, which
 * follow a vote within a second.
 * @returns null for an unknown or scheduled product.
 * @throws CoreError `unavailable`.
 */
export async function getStandings(sql: Sql, productId: string, rules: LeaderboardRules): Promise<Standings | null> {
  if (!isProductId(productId)) return null;
  const [launch] = await sql.query<LaunchRow>(SELECT_LAUNCH, [productId]);
  if (launch === undefined) return null;
  const standings = await Promise.all(PERIOD_KINDS.map((kind) => readStanding(sql, kind, launch, rules)));
  const [day, week, month, year] = standings;
  return day && week && month && year ? { day, week, month, year } : null;
}

const SELECT_UNPLACED = `SELECT FROM launches WHERE product_id = $1 AND placed_for IS NULL AND launched_at <= $2::timestamptz`;

/** Whether a product launched a moment ago and is not on its boards yet. @throws CoreError `unavailable`. */
export async function isUnplaced(sql: Sql, productId: string, now: Date): Promise<boolean> {
  if (!isProductId(productId)) return false;
  return (await sql.query(SELECT_UNPLACED, [productId, now.toISOString()])).length > 0;
}

async function readStanding(
  sql: Sql,
  kind: PeriodKind,
  launch: LaunchRow,
  rules: LeaderboardRules,
): Promise<Standing | undefined> {
  const values = [launch[kind], launch.votes, launch[`${kind}_order`]];
  const [place] = await sql.query<PlaceRow>(selectPlace(kind), values);
  const period = place && parsePeriod(place.period);
  if (place === undefined || period === undefined) return undefined;
  const excluded = [
    { reason: 'network' as const, votes: launch.excluded_network },
    { reason: 'operator' as const, votes: launch.excluded_operator },
  ];
  return {
    period: period.name,
    status: describePeriod(period, place, rules).status,
    rank: place.more + 1,
    tied: place.same > 1,
    launches: place.launches,
    votes: launch.votes,
    upvotes: launch.upvotes,
    excluded: excluded.filter(({ votes }) => votes > 0),
    windowEndsAt: new Date(launch.launched_at.getTime() + WINDOW_MS).toISOString(),
    above: neighbourOf(place.above),
    below: neighbourOf(place.below),
  };
}

function neighbourOf(row: Neighbour | null): Standing['above'] {
  return row && { productId: row.product_id, name: row.name, votes: row.votes };
}
