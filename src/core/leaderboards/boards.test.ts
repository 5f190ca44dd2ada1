import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BoardModel, HOUR } from '../../../tests/support/board-model.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { CAP } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { PeriodKind } from '../../contract/leaderboards/period.ts';
import type { Leaderboard, LeaderboardEntry } from '../../contract/leaderboards/schema.ts';
import { saveProducts } from '../products/save-products.ts';
import { type Runtime, systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from '../upvotes/network-counts.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { applyCapToNetworks } from './apply-vote-cap.ts';
import { changeVerdicts, undoVerdicts } from './change-verdicts.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { getStandings } from './get-standings.ts';
import { refreshLaunches } from './launch-votes.ts';
import { voterOf } from './tally-file.ts';
import { placeLaunches } from './update-boards.ts';
import { readSecret } from './vote-networks.ts';

const voteRules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };
const PRODUCTS = ['ebb', 'flow', 'tide'];
const NETWORKS = ['00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Step =
  | { do: 'launch'; product: string; inHours: number }
  | { do: 'vote'; product: string; session: number; network: number; upvoted: readonly boolean[] }
  | { do: 'exclude' | 'include'; product: string; sessions: number[] }
  | { do: 'undo'; product: string }
  | { do: 'wait'; hours: number };

const product = fc.constantFrom(...PRODUCTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('launch' as const), product, inHours: fc.integer({ min: -30, max: 40 }) }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('vote' as const),
      product,
      session: fc.integer({ min: 1, max: 3 }),
      network: fc.integer({ min: 0, max: 2 }),
      // The last one withdraws the vote and casts it again.
      upvoted: fc.constantFrom([true], [false], [false, true]),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('exclude' as const, 'include' as const),
      product,
      sessions: fc.subarray([1, 2, 3], { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), product }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 20 }) }) },
);

const launchOf = (id: string) => ({ do: 'launch' as const, product: id, inHours: -1 });

async function decide(
  step: Step & { do: 'exclude' | 'include' | 'undo' },
  day: string,
  runtime: Runtime,
): Promise<void> {
  const { product: productId, do: action } = step;
  if (action === 'undo') {
    await undoVerdicts(database, productId, runtime, CAP).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'not_undoable' });
    });
    return;
  }
  const secret = await readSecret(database, day, runtime);
  if (secret === undefined) throw new Error(`${day} is final`);
  const selection = { voters: step.sessions.map((session) => voterOf(secret, `session-${session}`)) };
  await changeVerdicts(database, { productId, action, reason: 'a test', selection }, runtime, undefined, CAP);
}

async function updateBoards(now: Date, timeZone: string): Promise<void> {
  await placeLaunches(database, { now, timeZone, reviewHours: 24, votesPerNetwork: CAP });
  await refreshLaunches(database, PRODUCTS);
}

async function readBoard(
  name: string,
  rules: { now: Date; timeZone: string; reviewHours: number },
): Promise<LeaderboardEntry[]> {
  const items: LeaderboardEntry[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Leaderboard | null = await getLeaderboard(database, name, { limit: 2, cursor }, rules);
    items.push(...(page?.items ?? []));
    cursor = page?.nextCursor ?? null;
  }
  return items;
}

test('after any launches, votes, retractions, decisions and waits, every board matches a simple model', async () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Santiago', 'Pacific/Apia', 'America/New_York');
  // These times are shortly before clock changes in these zones, or before the end of a month or a year. All are in the
  // future, because a postponed launch must also be in the future by the clock of the database.
  const start = fc.constantFrom(
    '2434-10-28T18:30:00Z',
    '2434-03-25T20:00:00Z',
    '2434-12-30T23:30:00Z',
    '2434-09-02T22:00:00Z',
  );
  await fc.assert(
    fc.asyncProperty(zone, start, fc.array(step, { maxLength: 40, size: 'max' }), async (timeZone, startsAt, steps) => {
      await database.query('DELETE FROM products');
      await database.query('DELETE FROM leaderboard_counts');
      await database.query('DELETE FROM leaderboards');
      await database.query('DELETE FROM audit_log');
      const model = new BoardModel(timeZone);
      let now = new Date(startsAt).getTime();
      const runtime = { ...systemRuntime, now: () => new Date(now) };
      for (const one of [...PRODUCTS.map(launchOf), ...steps]) {
        // Separates the times of votes, since votes in the same millisecond are ordered randomly.
        now += 1;
        if (one.do === 'wait') now += one.hours * HOUR;
        else if (one.do === 'launch') {
          const at = now + one.inHours * HOUR;
          await saveProducts(database, [buildProduct({ id: one.product, createdAt: new Date(at).toISOString() })]);
          model.launch(one.product, at, now);
        } else if (one.do === 'vote') {
          const { product: productId, session } = one;
          for (const upvoted of one.upvoted) {
            now += 1;
            // As with `VoteNetworks`, votes have a network only while the window is open.
            const network = model.isOpen(productId, now) ? NETWORKS[one.network - 1] : undefined;
            const change = { productId, session: `session-${session}`, upvoted, network };
            const { unchecked } = await setUpvotes(database, runtime, [change], voteRules);
            await applyCapToNetworks(database, unchecked, CAP);
            model.vote(productId, now, { ...one, upvoted });
          }
        } else if (model.hasLaunched(one.product, now)) {
          await decide(one, model.dayOf(one.product), runtime);
          if (one.do === 'undo') model.undo(one.product);
          else model.decide(one.product, one.sessions, one.do);
        }
        await updateBoards(new Date(now), timeZone);
      }
      const rules = { now: new Date(now), timeZone, reviewHours: 24 };
      const names = await database.query<{ period: string; kind: PeriodKind }>('SELECT period, kind FROM leaderboards');
      for (const { period, kind } of names) {
        const board = model.board(kind, period, now);
        const shown = await readBoard(period, rules);
        expect(shown.map(({ name: _name, image: _image, ...entry }) => entry)).toEqual(board);
        for (const [index, entry] of board.entries()) {
          const standing = (await getStandings(database, entry.productId, rules))?.[kind];
          expect(standing).toMatchObject({
            period,
            rank: entry.rank,
            tied: entry.tied,
            votes: entry.votes,
            launches: board.length,
          });
          expect(standing?.above?.productId).toBe(board[index - 1]?.productId);
          expect(standing?.below?.productId).toBe(board[index + 1]?.productId);
        }
      }
      expect(await database.query('SELECT FROM leaderboard_counts WHERE products < 0')).toEqual([]);
    }),
    { numRuns: Number(process.env.BOARD_RUNS ?? 40) },
  );
});
