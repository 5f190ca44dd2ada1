import { parsePeriod } from '../../src/contract/leaderboards/period.ts';
import type { Database } from '../../src/core/database/database.ts';
import { applyCapToNetworks } from '../../src/core/leaderboards/apply-vote-cap.ts';
import { checkBoard } from '../../src/core/leaderboards/check-board.ts';
import type { LeaderboardRules } from '../../src/core/leaderboards/get-leaderboard.ts';
import { refreshLaunches } from '../../src/core/leaderboards/launch-votes.ts';
import { readTally } from '../../src/core/leaderboards/read-tally.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { createNetworkCounts } from '../../src/core/upvotes/network-counts.ts';
import { setUpvotes } from '../../src/core/upvotes/set-upvotes.ts';
import { buildProduct } from './build-product.ts';

export const CAP = 2;

const voteRules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };

/** Returns the leaderboard rules of a site in UTC at the given time. */
export function rulesAt(now: string): LeaderboardRules {
  return { now: new Date(now), timeZone: 'UTC', reviewHours: 24 };
}

/** Launches a product and adds it to its leaderboards. */
export async function launch(database: Database, id: string, createdAt: string, now = createdAt): Promise<void> {
  await saveProducts(database, [buildProduct({ id, createdAt })]);
  await placeLaunches(database, { ...rulesAt(now), votesPerNetwork: CAP });
}

/** Upvotes a product, or withdraws the upvote, at the given time. */
export async function vote(
  database: Database,
  productId: string,
  at: string,
  session: string,
  { upvoted = true, network }: { upvoted?: boolean; network?: string } = {},
): Promise<void> {
  const runtime = { ...systemRuntime, now: () => new Date(at) };
  const { unchecked } = await setUpvotes(database, runtime, [{ productId, session, upvoted, network }], voteRules);
  await applyCapToNetworks(database, unchecked, CAP);
  await refreshLaunches(database, [productId]);
}

/** Returns the differences between a leaderboard and its votes, or undefined if there is no such leaderboard. */
export async function differencesOf(database: Database, name: string): Promise<string[] | undefined> {
  const period = parsePeriod(name);
  return period && (await checkBoard(database, period))?.differences;
}

/** Reads the whole tally of a day as text. */
export async function tallyOf(database: Database, day: string, now: string): Promise<string> {
  let text = '';
  const options = { rules: rulesAt(now), runtime: systemRuntime };
  await readTally(database, day, options, async ({ chunks }) => {
    for await (const chunk of chunks()) text += chunk;
  });
  return text;
}
