import { IS_WRITABLE } from '../counts/lock-counts.ts';
import { IS_COUNTED, WINDOW_INTERVAL } from '../leaderboards/launch-votes.ts';

/** The parts of the statement that a batch needs. Planning and running all parts would take longer than the write. */
export interface BatchContent {
  /** Whether some upvotes are withdrawn. */
  removal: boolean;
  /**
   * Whether the statement must check the cap on networks. `withinCap`: no, because all added votes are within the cap.
   * `distinct`: yes; all added votes for a product come from different networks. `shared`: yes; some of them may share
   * a network.
   */
  networks: 'withinCap' | 'distinct' | 'shared';
  /** Whether to apply the operator's decisions. If not, the statement skips products that have any. */
  decisions: boolean;
}

// Compares with a parameter, because Citus cannot calculate with timestamp columns in a CASE or in RETURNING.
const IN_WINDOW = 'product_counts.window_from > $6::timestamptz';

/**
 * Returns a single statement, so the whole batch takes one round trip and one flush to disk. A count changes only if a
 * row was added or removed. Like other writers, the statement first locks counts in the order of their keys, so
 * concurrent batches wait for each other instead of deadlocking. PostgreSQL takes a second to detect a deadlock.
 *
 * Parameters: $1 products, $2 sessions, $3 whether upvoted, $4 ids, $5 now, $6 the start of a window that ends now, $7
 * the voters' networks, $8 the cap (only if it is checked).
 *
 * The statement returns one row per changed product, because a row per vote would take as long as writing the vote. Its
 * variants are in `add-upvotes.sql` and `add-and-withdraw-upvotes.sql`.
 */
export function setUpvotesStatement(content: BatchContent): string {
  const { removal, networks, decisions } = content;
  const checksCap = networks !== 'withinCap';
  const hasVerdicts = checksCap || decisions;
  return `WITH writable AS (
    SELECT product_id, window_from, window_from + ${WINDOW_INTERVAL} AS window_end, ${IN_WINDOW} AS in_window FROM product_counts
    WHERE product_id = ANY($1::text[]) AND window_from <= $5::timestamptz AND ${IS_WRITABLE}${decisions ? '' : ' AND NOT has_decisions'}
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), desired AS (
    SELECT d.*${removal || checksCap ? ', writable.window_from, writable.window_end, writable.in_window' : ''}
    FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[], $7::uuid[])
      AS d (product_id, user_session, upvoted, id, network)
    JOIN writable ON writable.product_id = d.product_id
  )${networks === 'shared' ? WITH_CAP : ''}${decisions ? DECIDED : ''}, added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at, network${hasVerdicts ? ', verdict' : ''})
    SELECT id, product_id, user_session, $5::timestamptz, network${hasVerdicts ? `, ${verdictOf(content)}` : ''}
    FROM ${networks === 'shared' ? 'capped' : 'desired'}${decisions ? ' LEFT JOIN decided USING (product_id, user_session)' : ''}
    ${networks === 'shared' ? '' : 'WHERE upvoted'}
    ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session${removal || hasVerdicts ? ', verdict' : ''}
  )${removal ? `${REMOVED}${CHANGED}` : ''}, totals AS (
    SELECT product_id, ${removal ? TOTALS_WITH_REMOVED : TOTALS_ADDED}, ${removal || hasVerdicts ? TOTALS_BY_VERDICT : TOTALS_COUNTED}
    FROM ${removal ? 'changed' : '(SELECT *, 1 AS change, true AS was_in_window FROM added) AS changed'} GROUP BY product_id ORDER BY product_id
  )
  UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change,
    counted = ${changedCount('counted', 'counted')}${removal || hasVerdicts ? EXCLUDED : ''},
    window_changes = product_counts.window_changes + CASE WHEN ${IN_WINDOW} THEN 1 ELSE 0 END
  FROM totals WHERE product_counts.product_id = totals.product_id
  RETURNING product_counts.product_id, product_counts.upvotes, product_counts.window_changes,
    totals.added${removal ? ', totals.removed, totals.freed' : ''}`;
}

/**
 * Returns SQL for a changed count, which is at least 0: after a postponement is undone, the counts lack earlier votes
 * until the launch is placed on its boards and recounted.
 */
function changedCount(column: string, total: string): string {
  return `greatest(product_counts.${column} + CASE WHEN ${IN_WINDOW} THEN totals.${total} ELSE 0 END, 0)`;
}

const EXCLUDED = `,
      excluded_network = ${changedCount('excluded_network', 'network')},
      excluded_operator = ${changedCount('excluded_operator', 'operator')}`;

const CHANGED = `, changed AS (
    SELECT product_id, user_session, 1 AS change, verdict, true AS was_in_window, NULL::uuid AS network FROM added
    UNION ALL SELECT product_id, user_session, -1, verdict, was_in_window, network FROM removed
  )`;

// The driver parses arrays slowly, so the sessions are returned as JSON.
const TOTALS_ADDED = `count(*)::integer AS change, json_agg(user_session) AS added`;

const TOTALS_WITH_REMOVED = `sum(change)::integer AS change, json_agg(user_session) FILTER (WHERE change = 1) AS added,
      json_agg(user_session) FILTER (WHERE change = -1) AS removed,
      json_agg(network) FILTER (WHERE network IS NOT NULL) AS freed`;

const TOTALS_COUNTED = 'count(*)::integer AS counted';

const TOTALS_BY_VERDICT = [
  ['counted', IS_COUNTED],
  ['network', "verdict = 'network'"],
  ['operator', "verdict = 'operator'"],
]
  .map(([name, isSuch]) => `coalesce(sum(change) FILTER (WHERE was_in_window AND ${isSuch}), 0)::integer AS ${name}`)
  .join(', ');

// Counts all votes from the network, even excluded ones, so an operator's decision about one vote affects no other
// vote. Afterwards, `applyCapToNetworks` also counts the positions of excluded votes that were withdrawn.
const EARLIER = `(SELECT count(*) FROM (
      SELECT 1 FROM upvotes u
      WHERE u.product_id = desired.product_id AND u.network = desired.network AND u.created_at >= desired.window_from LIMIT $8
    ) AS earlier)`;

const BY_CAP = {
  withinCap: 'NULL',
  distinct: `CASE WHEN in_window AND network IS NOT NULL AND ${EARLIER} >= $8 THEN 'network' END`,
  shared: 'capped.verdict',
};

// Leaves out existing upvotes, which must not count towards the cap again. Orders by id, like `applyVoteCap`, because all
// votes of the batch have the same time.
const WITH_CAP = `, capped AS (
    SELECT id, product_id, user_session, network,
      CASE WHEN in_window AND network IS NOT NULL
        AND row_number() OVER (PARTITION BY product_id, network ORDER BY id) + ${EARLIER} > $8
      THEN 'network' END AS verdict
    FROM desired
    WHERE upvoted AND NOT EXISTS (
      SELECT FROM upvotes u WHERE u.product_id = desired.product_id AND u.user_session = desired.user_session
    )
  )`;

const DECIDED = `, decided AS (
    SELECT d.product_id, d.user_session, d.verdict
    FROM desired JOIN vote_decisions d ON d.product_id = desired.product_id AND d.user_session = desired.user_session
  )`;

/** Returns SQL for the verdict of added votes: the operator's decision or, without one, the result of the cap check. */
function verdictOf({ networks, decisions }: BatchContent): string {
  return decisions ? `coalesce(decided.verdict, ${BY_CAP[networks]})` : BY_CAP[networks];
}

const REMOVED = `, removed AS (
    DELETE FROM upvotes USING desired
    WHERE NOT desired.upvoted AND upvotes.product_id = desired.product_id AND upvotes.user_session = desired.user_session
    RETURNING upvotes.*, desired.in_window,
      upvotes.created_at >= desired.window_from AND upvotes.created_at < desired.window_end AS was_in_window
  ), retracted AS (
    INSERT INTO retracted_upvotes (product_id, id, user_session, created_at, network, verdict)
    SELECT r.product_id, r.id, r.user_session, r.created_at, r.network, r.verdict
    FROM removed r JOIN launches l ON l.product_id = r.product_id AND NOT l.final
    WHERE r.was_in_window AND NOT r.in_window
  )`;
