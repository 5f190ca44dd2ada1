import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';
import type { PeriodKind } from '../../src/contract/leaderboards/period.ts';
import type { LeaderboardEntry } from '../../src/contract/leaderboards/schema.ts';
import { CAP } from './launch-site.ts';

export const HOUR = 3_600_000;

interface Vote {
  session: number;
  at: number;
  network: number;
  /** Whether the vote was withdrawn after the window had ended. */
  retracted: boolean;
}

type Verdict = 'operator' | 'included';

interface Decision {
  verdict: Verdict;
  /** The vote that still counts towards the cap of its network while it is excluded, even after its withdrawal. */
  vote: Vote | undefined;
}

/** A simple model of launches and their leaderboards: lists of votes that are recounted from the start each time. */
export class BoardModel {
  readonly launchedAt = new Map<string, number>();
  readonly votes = new Map<string, Vote[]>();
  /**
   * The operator's decisions by product and session. Each also applies to later votes of the session for the product.
   */
  readonly #decisions = new Map<string, Decision>();
  readonly #changes: { id: string; before: Map<number, Verdict | undefined> }[] = [];

  constructor(private readonly zone: string) {}

  launch(id: string, at: number, now: number): void {
    this.launchedAt.set(id, at);
    const votes = this.votes.get(id) ?? [];
    const end = at + 24 * HOUR;
    const isDeleted = (vote: Vote) =>
      vote.retracted &&
      vote.at >= at &&
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
      votes.push({ session, at: now, network: isOpen ? network : 0, retracted: false });
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

  /** Returns the votes in the window, each with the reason for its exclusion, or null if it counts. */
  votesWithVerdicts(id: string): { vote: Vote; reason: 'network' | 'operator' | null }[] {
    const inWindow = (this.votes.get(id) ?? []).filter((vote) => this.isInWindow(id, vote));
    const verdictOf = ({ session }: Vote) => this.#decisions.get(`${id} ${session}`)?.verdict;
    const excluded = [...this.#decisions].flatMap(([key, { verdict, vote }]) =>
      verdict === 'operator' && vote && key.startsWith(`${id} `) && this.isInWindow(id, vote) ? [vote] : [],
    );
    const capped = [...inWindow.filter((vote) => verdictOf(vote) !== 'operator'), ...excluded];
    return inWindow.map((vote) => {
      const place = capped.filter(({ network, at }) => network === vote.network && at <= vote.at).length;
      const isBeyond = vote.network !== 0 && place > CAP;
      const verdict = verdictOf(vote);
      const reason = verdict === 'operator' ? 'operator' : isBeyond && verdict === undefined ? 'network' : null;
      return { vote, reason };
    });
  }

  #setDecision(id: string, session: number, verdict: Verdict, isUndo: boolean): void {
    const key = `${id} ${session}`;
    const isCast = (vote: Vote) => vote.session === session && vote.network !== 0 && this.isInWindow(id, vote);
    const cast = isUndo || verdict === 'included' ? undefined : this.votes.get(id)?.find(isCast);
    this.#decisions.set(key, { verdict, vote: cast ?? this.#decisions.get(key)?.vote });
  }

  /**
   * Excludes or includes the votes of some sessions, like the operator's command. Withdrawn votes are affected only if
   * there was an earlier decision about them.
   */
  decide(id: string, sessions: readonly number[], action: 'exclude' | 'include'): void {
    const before = new Map<number, Verdict | undefined>();
    const votes = this.votesWithVerdicts(id);
    for (const session of sessions) {
      const previous = this.#decisions.get(`${id} ${session}`)?.verdict;
      const cast = votes.find(({ vote }) => vote.session === session);
      // Undefined if the session has neither a vote nor a decision, so neither action applies to it.
      const counts = cast ? cast.reason === null : previous && previous === 'included';
      if (counts === (action === 'exclude')) before.set(session, previous);
    }
    const verdict = action === 'exclude' ? 'operator' : 'included';
    for (const session of before.keys()) this.#setDecision(id, session, verdict, false);
    if (before.size > 0) this.#changes.push({ id, before });
  }

  undo(id: string): void {
    const index = this.#changes.findLastIndex((change) => change.id === id);
    for (const [session, verdict] of this.#changes.splice(index, index === -1 ? 0 : 1)[0]?.before ?? []) {
      if (verdict === undefined) this.#decisions.delete(`${id} ${session}`);
      else this.#setDecision(id, session, verdict, true);
    }
  }

  board(kind: PeriodKind, name: string, now: number): Omit<LeaderboardEntry, 'name' | 'image'>[] {
    const formats = { day: 'yyyy-MM-dd', week: "kkkk-'W'WW", month: 'yyyy-MM', year: 'yyyy' };
    const entries = [...this.launchedAt]
      .filter(([, at]) => at <= now && DateTime.fromMillis(at, { zone: this.zone }).toFormat(formats[kind]) === name)
      .map(([productId, at]) => {
        const votes = this.votesWithVerdicts(productId);
        return {
          productId,
          votes: votes.filter(({ reason }) => reason === null).length,
          excluded: votes.filter(({ reason }) => reason !== null).length,
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
