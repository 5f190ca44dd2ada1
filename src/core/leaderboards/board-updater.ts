import type { Change } from '../changes/change-feed.ts';
import type { ChangeListener } from '../changes/site-changes.ts';
import type { Database } from '../database/database.ts';
import type { Log, Runtime } from '../runtime.ts';
import type { VotedFrom } from '../upvotes/network-counts.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyCapToLaunches, applyCapToNetworks, CAP_BATCH } from './apply-vote-cap.ts';
import { findLaunchesBehind, findOpenLaunches, refreshLaunches } from './launch-votes.ts';
import { placeLaunches } from './update-boards.ts';

/** How long a vote may take to move its launch on the boards, at most twice this. */
const REFRESH_INTERVAL_MS = 400;

/**
 * When updates are slow, as with a thousand simultaneous launches, votes have priority: updates get a twentieth of the
 * time.
 */
const MAX_SHARE = 0.05;
const MAX_INTERVAL_MS = 5_000;

/** Interval of full comparisons: a killed process may have left launches behind. */
const SWEEP_INTERVAL_MS = 60_000;

/** Keeps the boards up to date with this process's writes, and places launches as they begin. */
interface BoardUpdater extends ChangeListener {
  /** Records the writes of this process. */
  onWrite(change: Change): void;
  /** Judges networks of voters again. */
  onUnchecked(networks: readonly VotedFrom[]): void;
  close(): Promise<void>;
}

interface BoardUpdaterOptions {
  runtime: Runtime;
  timeZone: string;
  votesPerNetwork: number;
  log: Log;
  /** Publishes which products moved on the boards. */
  publish(change: Change): void;
  /** Unset: no webhooks. */
  recordEvents?: RecordEvents | undefined;
}

export function startBoardUpdater(
  database: Database,
  { runtime, timeZone, votesPerNetwork, log, publish, recordEvents }: BoardUpdaterOptions,
): BoardUpdater {
  let written = new Set<string>();
  let unchecked = new Map<string, VotedFrom>();
  let intervalMs = REFRESH_INTERVAL_MS;
  let mustPlace = true;
  let mustSweep = true;
  let mustCheckCaps = true;
  let isFailing = false;
  let isClosed = false;
  let isRunning = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function schedule(): void {
    if (timer !== undefined || isRunning || isClosed) return;
    timer = setTimeout(() => {
      timer = undefined;
      isRunning = true;
      running = update().then(() => {
        isRunning = false;
        if (written.size > 0 || unchecked.size > 0 || mustPlace || mustSweep) schedule();
      });
    }, intervalMs).unref();
  }

  async function update(): Promise<void> {
    const started = runtime.monotonicMs();
    const [batch, networks] = [written, unchecked];
    const [places, sweeps] = [mustPlace, mustSweep];
    written = new Set();
    unchecked = new Map();
    mustPlace = false;
    mustSweep = false;
    try {
      if (places || sweeps) await place(sweeps);
      await applyCapToNetworks(database, [...networks.values()], votesPerNetwork);
      const behind = sweeps ? await findLaunchesBehind(database, runtime.now()) : [];
      await refresh([...batch, ...behind]);
      // Last, because it is slow for windows with many votes, and boards do not wait for it.
      if (mustCheckCaps) await capOpenWindows();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'Cannot update the leaderboards; trying again');
      isFailing = true;
      for (const id of batch) written.add(id);
      for (const [key, network] of networks) unchecked.set(key, network);
      mustPlace ||= places;
      mustSweep ||= sweeps;
    }
    const tookMs = runtime.monotonicMs() - started;
    intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(REFRESH_INTERVAL_MS, tookMs / MAX_SHARE));
  }

  async function place(withdraw: boolean): Promise<void> {
    for (let mayHaveMore = true; mayHaveMore && !isClosed; ) {
      const placing = { now: runtime.now(), timeZone, votesPerNetwork, withdraw };
      const placed = await placeLaunches(database, placing, recordEvents);
      if (placed.productIds.length > 0) publish({ productIds: placed.productIds, catalogue: true });
      mustPlace ||= placed.isBlocked;
      mayHaveMore = placed.mayHaveMore;
    }
  }

  /** A killed process may have left votes beyond the cap. */
  async function capOpenWindows(): Promise<void> {
    const open = await findOpenLaunches(database, runtime.now());
    for (let first = 0; first < open.length && !isClosed; first += CAP_BATCH) {
      await applyCapToLaunches(database, open.slice(first, first + CAP_BATCH), votesPerNetwork);
    }
    mustCheckCaps = false;
    mustSweep = true;
  }

  async function refresh(productIds: readonly string[]): Promise<void> {
    const moved = await refreshLaunches(database, productIds);
    if (moved.length > 0) publish({ productIds: moved, catalogue: false });
  }

  const sweepTimer = setInterval(() => {
    mustSweep = true;
    schedule();
  }, SWEEP_INTERVAL_MS).unref();
  schedule();

  return {
    onWrite({ productIds }) {
      for (const id of productIds) written.add(id);
      schedule();
    },
    onUnchecked(networks) {
      for (const one of networks) unchecked.set(`${one.productId} ${one.network}`, one);
      if (networks.length > 0) schedule();
    },
    onChange({ catalogue }) {
      if (!catalogue) return;
      mustPlace = true;
      schedule();
    },
    onGap() {
      mustSweep = true;
      schedule();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(sweepTimer);
      await running;
    },
  };
}
