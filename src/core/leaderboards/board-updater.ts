import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from '../changes/change-feed.ts';
import type { ChangeListener } from '../changes/site-changes.ts';
import type { Database } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-errors.ts';
import type { Log, Runtime } from '../runtime.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyCapToLaunches, applyCapToNetworks, CAP_BATCH } from './apply-vote-cap.ts';
import type { LeaderboardRules } from './get-leaderboard.ts';
import { deleteEmptyCounts, findCappedLaunches, findStaleLaunches, refreshAvailableLaunches } from './launch-votes.ts';
import { correctRecentRetracted } from './retracted-votes.ts';
import { placeLaunches } from './update-boards.ts';
import type { VoteNetwork } from './vote-networks.ts';

/** The pause before an update. A vote moves its launch on the boards within twice this time unless updates are slow. */
const REFRESH_INTERVAL_MS = 400;

/**
 * The share of time that updates may take. When they are slow, for example during a thousand simultaneous launches, the
 * pauses grow accordingly, up to `MAX_INTERVAL_MS`, so visitors' writes have priority.
 */
const MAX_SHARE = 0.05;
const MAX_INTERVAL_MS = 5_000;

/**
 * Interval between sweeps, which find launches whose votes on the boards are stale, for example because a process was
 * killed before it updated them.
 */
const SWEEP_INTERVAL_MS = 60_000;

/** Updates the boards after writes by this process, and puts launches on their boards when they begin. */
interface BoardUpdater extends ChangeListener {
  /** Enqueues the products of a change that this process committed. */
  onWrite(change: Change): void;
  /** Enqueues networks whose votes must be compared with the cap again. */
  onUnchecked(networks: readonly VoteNetwork[]): void;
  close(): Promise<void>;
}

interface BoardUpdaterOptions extends Omit<LeaderboardRules, 'now'> {
  runtime: Runtime;
  votesPerNetwork: number;
  log: Log;
  /** Publishes the products whose places, votes on the boards or excluded votes changed. */
  publish(change: Change): void;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
}

interface Work {
  /** Products whose votes may have changed. */
  written: Iterable<string>;
  /** Networks whose votes must be compared with the cap. */
  unchecked: Iterable<VoteNetwork>;
  /** Whether to place launches, because some may have begun or changed. */
  places: boolean;
  /**
   * Whether to correct the retracted votes of open windows, refresh stale boards, and remove launches that were placed
   * too early: a killed process may not have updated some boards, or a clock may have been set back.
   */
  sweeps: boolean;
  /**
   * Whether to compare the votes of all launches that are not final with the cap: VOTES_PER_NETWORK may have changed,
   * also since a backup that was just restored, or a process may have been killed before it compared them.
   */
  checksCaps: boolean;
}

/** Collects the work for the next update. */
class PendingWork {
  readonly #written = new Set<string>();
  readonly #unchecked = new Map<string, VoteNetwork>();
  readonly #flags = { places: false, sweeps: false, checksCaps: false };
  readonly #events = new EventEmitter();

  add({ written = [], unchecked = [], places = false, sweeps = false, checksCaps = false }: Partial<Work>): void {
    for (const id of written) this.#written.add(id);
    for (const network of unchecked) this.#unchecked.set(`${network.productId} ${network.network}`, network);
    this.#flags.places ||= places;
    this.#flags.sweeps ||= sweeps;
    this.#flags.checksCaps ||= checksCaps;
    if (!this.#isEmpty()) this.#events.emit('work');
  }

  /** Resolves when there is work. Rejects if `signal` aborts. */
  async waitForWork(signal: AbortSignal): Promise<void> {
    if (this.#isEmpty()) await once(this.#events, 'work', { signal });
  }

  take(): Work {
    const work = { written: [...this.#written], unchecked: [...this.#unchecked.values()], ...this.#flags };
    this.#written.clear();
    this.#unchecked.clear();
    Object.assign(this.#flags, { places: false, sweeps: false, checksCaps: false });
    return work;
  }

  #isEmpty(): boolean {
    const { places, sweeps, checksCaps } = this.#flags;
    return this.#written.size === 0 && this.#unchecked.size === 0 && !places && !sweeps && !checksCaps;
  }
}

export function startBoardUpdater(
  database: Database,
  { runtime, timeZone, reviewHours, votesPerNetwork, log, publish, recordEvents }: BoardUpdaterOptions,
): BoardUpdater {
  // Each queue has its own loop. Votes never wait for launches, sweeps or cap checks, and launches never wait for cap
  // checks.
  const votes = new PendingWork();
  const tasks = new PendingWork();
  const checks = new PendingWork();
  const closing = new AbortController();
  const { signal } = closing;

  /** Runs one update of a queue at a time, each after a pause in which more work accumulates. */
  async function keepUpdating(pending: PendingWork): Promise<void> {
    let delayMs = REFRESH_INTERVAL_MS;
    for (let isFailing = false; ; ) {
      await pending.waitForWork(signal);
      await delay(delayMs, undefined, { signal, ref: false });
      const started = runtime.monotonicMs();
      const work = pending.take();
      try {
        await update(work);
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, 'Cannot update the leaderboards; trying again');
        isFailing = true;
        pending.add(work);
      }
      const tookMs = runtime.monotonicMs() - started;
      delayMs = Math.min(MAX_INTERVAL_MS, Math.max(REFRESH_INTERVAL_MS, tookMs / MAX_SHARE));
    }
  }

  async function update({ written, unchecked, places, sweeps, checksCaps }: Work): Promise<void> {
    const { corrected, skipped } = await applyCapToNetworks(database, [...unchecked], votesPerNetwork);
    publishVotes(corrected);
    // Enqueues the skipped launches for another refresh as well, because their votes have not been corrected yet.
    votes.add({ unchecked: skipped, written: skipped.map(({ productId }) => productId) });
    await refresh([...written]);
    if (places || sweeps) await place(sweeps);
    if (sweeps) await sweepBoards();
    if (checksCaps) await capLaunches();
  }

  async function place(removesEarly: boolean): Promise<void> {
    for (let mayHaveMore = true; mayHaveMore && !signal.aborted; ) {
      const placing = { now: runtime.now(), timeZone, reviewHours, votesPerNetwork, removesEarly, signal };
      const placed = await placeLaunches(database, placing, recordEvents);
      if (placed.productIds.length > 0) publish({ productIds: placed.productIds, catalogue: true });
      tasks.add({ places: placed.isBlocked });
      mayHaveMore = placed.mayHaveMore;
    }
  }

  /**
   * Deletes empty histogram rows and retracted votes that no longer count, and enqueues launches whose boards are
   * stale.
   */
  async function sweepBoards(): Promise<void> {
    publishVotes(await correctRecentRetracted(database, { now: runtime.now(), votesPerNetwork }));
    votes.add({ written: await findStaleLaunches(database) });
    await deleteEmptyCounts(database);
  }

  /** Applies the cap to all launches that are not final. After a statement timeout, checks fewer launches at a time. */
  async function capLaunches(): Promise<void> {
    const capped = await findCappedLaunches(database);
    let limit = CAP_BATCH;
    for (let first = 0; first < capped.length && !signal.aborted; ) {
      const productIds = capped.slice(first, first + limit);
      try {
        publishVotes(await applyCapToLaunches(database, productIds, votesPerNetwork));
        first += productIds.length;
        limit = Math.min(2 * limit, CAP_BATCH);
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        if (productIds.length === 1) {
          log.warn({ productIds }, 'The cap check takes too long; the cap is applied when the result becomes final');
          first += 1;
        }
        limit = Math.ceil(productIds.length / 2);
      }
    }
    tasks.add({ sweeps: true });
  }

  async function refresh(productIds: readonly string[]): Promise<void> {
    const { refreshed, skipped } = await refreshAvailableLaunches(database, productIds);
    publishVotes(refreshed);
    votes.add({ written: skipped });
  }

  /** Publishes products whose votes on the boards or excluded votes changed. */
  function publishVotes(productIds: string[]): void {
    if (productIds.length > 0) publish({ productIds, catalogue: false });
  }

  const sweep = () => tasks.add({ sweeps: true });
  const sweepTimer = setInterval(sweep, SWEEP_INTERVAL_MS).unref();
  tasks.add({ places: true, sweeps: true });
  checks.add({ checksCaps: true });
  const updating = [votes, tasks, checks].map((pending) =>
    keepUpdating(pending).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    }),
  );

  return {
    onWrite: ({ productIds }) => votes.add({ written: productIds }),
    onUnchecked: (networks) => votes.add({ unchecked: networks }),
    onChange: ({ catalogue }) => tasks.add({ places: catalogue }),
    onGap() {
      sweep();
      checks.add({ checksCaps: true });
    },
    async close() {
      clearInterval(sweepTimer);
      closing.abort();
      await Promise.all(updating);
    },
  };
}
