import { PERIOD_KINDS, type PeriodKind } from '../../contract/leaderboards/period.ts';
import type { Standing, Standings } from '../../contract/leaderboards/schema.ts';
import { VOTES_PER_NETWORK } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { Sql } from '../database/database.ts';
import { dayAt, statusAt, storedStatus, WINDOW_MS } from './calendar.ts';
import { BOARD_COLUMNS, type LeaderboardRow, type LeaderboardRules } from './get-leaderboard.ts';
import { HAS_BEGUN, leaderboardRow } from './update-boards.ts';

type LaunchRow = Record<PeriodKind, string> &
  Record<`${PeriodKind}_order`, string> & {
    launched_at: Date;
    votes: number;
    upvotes: number;
    excluded_network: number;
    excluded_operator: number;
  };

interface PlaceRow extends LeaderboardRow {
  kind: PeriodKind;
  /** The votes of the launch itself; null if it is no longer on this board. */
  own_votes: number | null;
  more: number;
  same: number;
  above: Standing['above'];
  below: Standing['below'];
}

/** The placeholders in a statement for the period of a board and for the launch's tie order on it. */
interface PlaceParameters {
  period: string;
  order: string;
}

const SELECT_LAUNCH = `SELECT l.launched_at, l.votes, ${PERIOD_KINDS.map((kind) => `l.${kind}, l.${kind}_order`).join(', ')},
    c.upvotes, c.excluded_network, c.excluded_operator
  FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.product_id = $1 AND l.placed_for IS NOT NULL`;

/** SQL: the launch directly above or below a position on the board, from the board's index. */
const neighbour = (kind: PeriodKind, direction: 'above' | 'below', { period, order }: PlaceParameters) => `(
    SELECT to_jsonb(n) FROM (
      SELECT o.product_id AS "productId", p.name, o.votes
      FROM (
        SELECT product_id, votes FROM launches
        WHERE ${kind} = ${period} AND ((-votes), ${kind}_order) ${direction === 'above' ? '<' : '>'} (-$1::integer, ${order}::uuid)
        ORDER BY (-votes) ${direction === 'above' ? 'DESC' : 'ASC'}, ${kind}_order ${direction === 'above' ? 'DESC' : 'ASC'} LIMIT 1
      ) AS o JOIN products p ON p.id = o.product_id
    ) AS n
  ) AS ${direction}`;

/**
 * SQL: the rank and the neighbours of the launch `$2`, which has `$1` votes, on one of its boards. The period and the
 * tie order are parameters, because Citus cannot join `launches` to a table on the coordinator in this query.
 */
const selectPlace = (kind: PeriodKind, parameters: PlaceParameters) => `
  SELECT '${kind}' AS kind, ${BOARD_COLUMNS}, counts.*,
    (SELECT votes FROM launches WHERE product_id = $2 AND ${kind} = ${parameters.period}) AS own_votes,
    ${neighbour(kind, 'above', parameters)}, ${neighbour(kind, 'below', parameters)}
  FROM leaderboards b CROSS JOIN LATERAL (
    SELECT coalesce(sum(products), 0)::integer AS launches,
      coalesce(sum(products) FILTER (WHERE votes > $1::integer), 0)::integer AS more,
      coalesce(sum(products) FILTER (WHERE votes = $1::integer), 1)::integer AS same
    FROM leaderboard_counts WHERE period = b.period
  ) AS counts WHERE b.period = ${parameters.period}`;

/**
 * SQL: the ranks and the neighbours of a launch on its four boards, in one round trip. Each kind has two parameters
 * after `$2`.
 */
const SELECT_PLACES = PERIOD_KINDS.map((kind, index) =>
  selectPlace(kind, { period: `$${2 * index + 3}`, order: `$${2 * index + 4}` }),
).join(' UNION ALL ');

const MAX_ATTEMPTS = 3;

/**
 * Reads the standing of a launch in its day, week, month and year. The votes are those by which the boards are ordered;
 * a new vote appears in them within a second. If votes change during each of `MAX_ATTEMPTS` reads, the rank may be
 * outdated.
 * @returns null for a product that is unknown, scheduled, or not on its boards yet.
 * @throws CoreError `unavailable`.
 */
export async function getStandings(
  sql: Sql,
  productId: string,
  { votesPerNetwork = VOTES_PER_NETWORK, ...rules }: LeaderboardRules & { votesPerNetwork?: number },
  attempt = 1,
): Promise<Standings | null> {
  if (!isProductId(productId)) return null;
  const [launch] = await sql.query<LaunchRow>(SELECT_LAUNCH, [productId], { isPrepared: true });
  if (launch === undefined) return null;
  const keys = PERIOD_KINDS.flatMap((kind) => [launch[kind], launch[`${kind}_order`]]);
  const places = await sql.query<PlaceRow>(SELECT_PLACES, [launch.votes, productId, ...keys], { isPrepared: true });
  // The launch gained or lost votes between the two statements, so the ranks were read for an outdated number of votes.
  if (attempt < MAX_ATTEMPTS && places.some(({ own_votes }) => own_votes !== launch.votes)) {
    return getStandings(sql, productId, { votesPerNetwork, ...rules }, attempt + 1);
  }
  const placeOn = (kind: PeriodKind) => places.find((row) => row.kind === kind);
  // The cap is fixed when the day of a launch becomes final, even if its longer periods are not final yet.
  const cap = placeOn('day')?.votes_per_network ?? votesPerNetwork;
  const standingOf = (kind: PeriodKind) => {
    const place = placeOn(kind);
    return place && describeStanding(place, launch, cap, rules);
  };
  const [day, week, month, year] = PERIOD_KINDS.map(standingOf);
  return day && week && month && year ? { day, week, month, year } : null;
}

const SELECT_UNPLACED = `SELECT launched_at FROM launches WHERE product_id = $2 AND placed_for IS NULL AND ${HAS_BEGUN}`;

/**
 * Returns whether viewing a launch must place it: the launch has begun, is not on its boards yet, and the result of its
 * day is neither final nor due. Older launches wait for the board updater, because their order matters; see
 * `FIND_TO_PLACE`.
 * @throws CoreError `unavailable`.
 */
export async function isPlaceable(
  sql: Sql,
  productId: string,
  { now, timeZone, reviewHours }: LeaderboardRules,
): Promise<boolean> {
  if (!isProductId(productId)) return false;
  const [launch] = await sql.query<{ launched_at: Date }>(SELECT_UNPLACED, [now.toISOString(), productId]);
  if (launch === undefined) return false;
  const { to_at } = leaderboardRow(dayAt(launch.launched_at, timeZone), timeZone);
  return statusAt(now, to_at, reviewHours).status !== 'final';
}

function describeStanding(
  place: PlaceRow,
  launch: LaunchRow,
  votesPerNetwork: number,
  rules: LeaderboardRules,
): Standing {
  const excluded = [
    { reason: 'network' as const, votes: launch.excluded_network },
    { reason: 'operator' as const, votes: launch.excluded_operator },
  ];
  return {
    period: place.period,
    status: storedStatus(place, rules),
    rank: place.more + 1,
    tied: place.same > 1,
    launches: place.launches,
    votes: launch.votes,
    upvotes: launch.upvotes,
    excluded: excluded.filter(({ votes }) => votes > 0),
    votesPerNetwork,
    windowEndsAt: new Date(launch.launched_at.getTime() + WINDOW_MS).toISOString(),
    above: place.above,
    below: place.below,
  };
}
