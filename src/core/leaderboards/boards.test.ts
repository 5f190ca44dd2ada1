import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
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

const HOUR = 3_600_000;
const CAP = 2;
const voteRules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };
const PRODUCTS = ['ebb', 'flow', 'reef', 'tide'];
const NETWORKS = ['00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Step =
  | { do: 'launch'; product: string; inHours: number }
  | { do: 'vote'; product: string; session: number; network: number; upvoted: boolean }
  | { do: 'exclude' | 'include'; product: string; sessions: number[] }
  | { do: 'undo'; product: string }
  | { do: 'wait'; hours: number };

const product = fc.constantFrom(...PRODUCTS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('launch' as const), product, inHours: fc.integer({ min: -30, max: 40 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('vote' as const),
      product,
      session: fc.integer({ min: 1, max: 6 }),
      network: fc.integer({ min: 0, max: 2 }),
      upvoted: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('exclude' as const, 'include' as const),
      product,
      sessions: fc.subarray([1, 2, 3, 4, 5, 6], { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('undo' as const), product }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 20 }) }) },
);

interface Vote {
  session: number;
  at: number;
  network: number;
  /** The operator's decision; null if there is none. */
  decision: 'operator' | 'included' | null;
  /** Whether the vote was withdrawn after the window had ended. */
  retracted: boolean;
}

/** A simple model of launches: lists of votes that are recounted from the start each time. */
class Model {
  readonly launchedAt = new Map<string, number>();
  readonly votes = new Map<string, Vote[]>();
  readonly decisions: { id: string; before: Map<number, Vote['decision']> }[] = [];

  constructor(private readonly zone: string) {}

  launch(id: string, at: number, now: number): void {
    this.launchedAt.set(id, at);
    const votes = this.votes.get(id) ?? [];
    const end = at + 24 * HOUR;
    const isDeleted = (vote: Vote) =>
      vote.retracted &&
      (now < end || votes.some((later) => later.session === vote.session && later.at > vote.at && later.at < end));
    this.votes.set(
      id,
      votes.filter((vote) => !isDeleted(vote)),
    );
  }

  vote(
    id: string,
    now: number,
    { session, network, upvoted }: { session: number; network: number; upvoted: boolean },
  ): void {
    if (!this.hasLaunched(id, now)) return;
    const votes = this.votes.get(id) ?? [];
    const isOpen = this.isOpen(id, now);
    const index = votes.findIndex((vote) => vote.session === session && !vote.retracted);
    if (upvoted && index === -1) {
      votes.push({ session, at: now, network: isOpen ? network : 0, decision: null, retracted: false });
    } else if (!upvoted && index !== -1) {
      const vote = votes[index];
      if (vote && !isOpen && this.isInWindow(id, vote)) vote.retracted = true;
      else votes.splice(index, 1);
    }
  }

  isInWindow(id: string, { at }: Vote): boolean {
    const launchedAt = this.launchedAt.get(id) ?? Number.NaN;
    return at >= launchedAt && at < launchedAt + 24 * HOUR;
  }

  dayOf(id: string): string {
    const launchedAt = this.launchedAt.get(id) ?? Number.NaN;
    return DateTime.fromMillis(launchedAt, { zone: this.zone }).toFormat('yyyy-MM-dd');
  }

  hasLaunched(id: string, now: number): boolean {
    return (this.launchedAt.get(id) ?? Number.POSITIVE_INFINITY) <= now;
  }

  isOpen(id: string, now: number): boolean {
    return this.hasLaunched(id, now) && now < (this.launchedAt.get(id) ?? 0) + 24 * HOUR;
  }

  /** Returns the votes in the window, each with the reason for its exclusion. */
  judged(id: string): { vote: Vote; reason: 'network' | 'operator' | null }[] {
    const inWindow = (this.votes.get(id) ?? []).filter((vote) => this.isInWindow(id, vote));
    return inWindow.map((vote, index) => {
      const place = inWindow.slice(0, index + 1).filter(({ network }) => network === vote.network).length;
      const isBeyond = vote.network !== 0 && place > CAP;
      const reason = vote.decision === 'operator' ? 'operator' : isBeyond && vote.decision === null ? 'network' : null;
      return { vote, reason };
    });
  }

  /** Applies the operator's command to the votes of some sessions. */
  decide(id: string, sessions: readonly number[], action: 'exclude' | 'include'): void {
    const before = new Map<number, Vote['decision']>();
    for (const { vote, reason } of this.judged(id)) {
      if (!sessions.includes(vote.session) || (reason === null) !== (action === 'exclude')) continue;
      before.set(vote.session, vote.decision);
      vote.decision = action === 'exclude' ? 'operator' : 'included';
    }
    this.decisions.push({ id, before });
  }

  undo(id: string): void {
    const index = this.decisions.findLastIndex((decision) => decision.id === id);
    const before = this.decisions[index]?.before ?? new Map<number, Vote['decision']>();
    const found = (this.votes.get(id) ?? []).filter((vote) => before.has(vote.session));
    // A decision whose votes are all gone cannot be undone: the clock of the test is ahead of the database's clock, so
    // the secret seems newer than the decision.
    if (index === -1 || (before.size > 0 && found.length === 0)) return;
    this.decisions.splice(index, 1);
    for (const vote of found) vote.decision = before.get(vote.session) ?? null;
  }

  board(kind: PeriodKind, name: string, now: number): Omit<LeaderboardEntry, 'name' | 'image'>[] {
    const formats = { day: 'yyyy-MM-dd', week: "kkkk-'W'WW", month: 'yyyy-MM', year: 'yyyy' };
    const entries = [...this.launchedAt]
      .filter(([, at]) => at <= now && DateTime.fromMillis(at, { zone: this.zone }).toFormat(formats[kind]) === name)
      .map(([productId, at]) => {
        const judged = this.judged(productId);
        return {
          productId,
          votes: judged.filter(({ reason }) => reason === null).length,
          excluded: judged.filter(({ reason }) => reason !== null).length,
          upvotes: (this.votes.get(productId) ?? []).filter(({ retracted }) => !retracted).length,
          comments: 0,
          launchedAt: new Date(at).toISOString(),
          windowEndsAt: new Date(at + 24 * HOUR).toISOString(),
          order: createHash('sha256').update(`${name}/${productId}`).digest('hex'),
        };
      })
      .sort((one, other) => other.votes - one.votes || (one.order < other.order ? -1 : 1));
    return entries.map(({ order: _order, ...entry }) => ({
      rank: 1 + entries.filter(({ votes }) => votes > entry.votes).length,
      tied: entries.filter(({ votes }) => votes === entry.votes).length > 1,
      ...entry,
    }));
  }
}

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
  // These times are shortly before clock changes in these zones, or before the end of a month or a year. They are in the
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
      const model = new Model(timeZone);
      let now = new Date(startsAt).getTime();
      const runtime = { ...systemRuntime, now: () => new Date(now) };
      for (const one of steps) {
        // Separates the times of votes, since votes in the same millisecond are ordered randomly.
        now += 1;
        if (one.do === 'wait') now += one.hours * HOUR;
        else if (one.do === 'launch') {
          const at = now + one.inHours * HOUR;
          await saveProducts(database, [buildProduct({ id: one.product, createdAt: new Date(at).toISOString() })]);
          model.launch(one.product, at, now);
        } else if (one.do === 'vote') {
          const { product: productId, session, upvoted } = one;
          // As with `VoteNetworks`, votes have a network only while the window is open.
          const network = model.isOpen(productId, now) ? NETWORKS[one.network - 1] : undefined;
          const change = { productId, session: `session-${session}`, upvoted, network };
          const { unchecked } = await setUpvotes(database, runtime, [change], voteRules);
          await applyCapToNetworks(database, unchecked, CAP);
          model.vote(productId, now, one);
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
