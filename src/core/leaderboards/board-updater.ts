import type { Change } from '../changes/change-feed.ts';
import type { ChangeListener } from '../changes/site-changes.ts';
import type { Database } from '../database/database.ts';
import type { Log, Runtime } from '../runtime.ts';
import type { VotedFrom } from '../upvotes/network-counts.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyCapToLaunches, applyCapToNetworks, CAP_BATCH } from './apply-vote-cap.ts';
import { findLaunchesBehind, findOpenLaunches, refreshLaunches } from './launch-votes.ts';
import { placeLaunches } from './update-boards.ts';

/** The pause before an update. A vote moves its launch on the boards within twice this time, unless updates are slow. */
const REFRESH_INTERVAL_MS = 400;

/**
 * The share of the time that updates may take, so votes have priority when updates are slow, as with a thousand
 * simultaneous launches.
 */
const MAX_SHARE = 0.05;
const MAX_INTERVAL_MS = 5_000;

/** Interval of comparisons of all launches, since a killed process may have left some behind. */
const SWEEP_INTERVAL_MS = 60_000;

/** Updates the boards after the writes of this process, and places launches when they begin. */
interface BoardUpdater extends ChangeListener {
  /** Records the writes of this process. */
  onWrite(change: Change): void;
  /** Enqueues networks whose votes must be compared with the cap again. */
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
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
}

/** What the next update has to do. */
interface Work {
  /** Products whose votes may have changed. */
  written: Set<string>;
  /** Networks of voters to compare with the cap. */
  unchecked: Map<string, VotedFrom>;
  /** Whether to place launches, because some may have begun or changed. */
  places: boolean;
  /** Whether to compare all launches in open windows, because a killed process may have left some behind. */
  sweeps: boolean;
  /** Whether to compare all networks in open windows with the cap, for the same reason. */
  checksCaps: boolean;
}

/** One update runs at a time, after a pause that begins with the first work for it. */
type State =
  | { kind: 'idle' }
  | { kind: 'waiting'; timer: NodeJS.Timeout }
  | { kind: 'updating'; running: Promise<void> }
  | { kind: 'closed'; ended: Promise<void> };

const noWork = (): Work => ({
  written: new Set(),
  unchecked: new Map(),
  places: false,
  sweeps: false,
  checksCaps: false,
});

function isEmpty({ written, unchecked, places, sweeps, checksCaps }: Work): boolean {
  return written.size === 0 && unchecked.size === 0 && !places && !sweeps && !checksCaps;
}

/** Adds the work of a failed update to the work that has arrived since. */
function addWork(work: Work, failed: Work): void {
  for (const id of failed.written) work.written.add(id);
  for (const [key, network] of failed.unchecked) work.unchecked.set(key, network);
  work.places ||= failed.places;
  work.sweeps ||= failed.sweeps;
  work.checksCaps ||= failed.checksCaps;
}

export function startBoardUpdater(
  database: Database,
  { runtime, timeZone, votesPerNetwork, log, publish, recordEvents }: BoardUpdaterOptions,
): BoardUpdater {
  let work: Work = { ...noWork(), places: true, sweeps: true, checksCaps: true };
  let state: State = { kind: 'idle' };
  let intervalMs = REFRESH_INTERVAL_MS;
  let isFailing = false;

  function schedule(): void {
    if (state.kind === 'idle') state = { kind: 'waiting', timer: setTimeout(begin, intervalMs).unref() };
  }

  function begin(): void {
    const running = update().then(() => {
      if (isClosed()) return;
      state = { kind: 'idle' };
      if (!isEmpty(work)) schedule();
    });
    state = { kind: 'updating', running };
  }

  const isClosed = () => state.kind === 'closed';

  async function update(): Promise<void> {
    const started = runtime.monotonicMs();
    const current = work;
    work = noWork();
    try {
      if (current.places || current.sweeps) await place(current.sweeps);
      await applyCapToNetworks(database, [...current.unchecked.values()], votesPerNetwork);
      const behind = current.sweeps ? await findLaunchesBehind(database, runtime.now()) : [];
      await refresh([...current.written, ...behind]);
      // Comes last, because it is slow for windows with many votes, and boards do not need it.
      if (current.checksCaps) await capOpenWindows();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'Cannot update the leaderboards; trying again');
      isFailing = true;
      addWork(work, current);
    }
    const tookMs = runtime.monotonicMs() - started;
    intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(REFRESH_INTERVAL_MS, tookMs / MAX_SHARE));
  }

  async function place(withdraw: boolean): Promise<void> {
    for (let mayHaveMore = true; mayHaveMore && !isClosed(); ) {
      const placing = { now: runtime.now(), timeZone, votesPerNetwork, withdraw };
      const placed = await placeLaunches(database, placing, recordEvents);
      if (placed.productIds.length > 0) publish({ productIds: placed.productIds, catalogue: true });
      work.places ||= placed.isBlocked;
      mayHaveMore = placed.mayHaveMore;
    }
  }

  /** Applies the cap to all open windows, since a killed process may have left votes beyond it. */
  async function capOpenWindows(): Promise<void> {
    const open = await findOpenLaunches(database, runtime.now());
    for (let first = 0; first < open.length && !isClosed(); first += CAP_BATCH) {
      await applyCapToLaunches(database, open.slice(first, first + CAP_BATCH), votesPerNetwork);
    }
    work.sweeps = true;
  }

  async function refresh(productIds: readonly string[]): Promise<void> {
    const moved = await refreshLaunches(database, productIds);
    if (moved.length > 0) publish({ productIds: moved, catalogue: false });
  }

  function sweep(): void {
    work.sweeps = true;
    schedule();
  }

  const sweepTimer = setInterval(sweep, SWEEP_INTERVAL_MS).unref();
  schedule();

  return {
    onWrite({ productIds }) {
      for (const id of productIds) work.written.add(id);
      schedule();
    },
    onUnchecked(networks) {
      for (const one of networks) work.unchecked.set(`${one.productId} ${one.network}`, one);
      if (networks.length > 0) schedule();
    },
    onChange({ catalogue }) {
      if (!catalogue) return;
      work.places = true;
      schedule();
    },
    onGap: sweep,
    close() {
      clearInterval(sweepTimer);
      if (state.kind === 'waiting') clearTimeout(state.timer);
      if (state.kind !== 'closed') {
        state = { kind: 'closed', ended: state.kind === 'updating' ? state.running : Promise.resolve() };
      }
      return state.ended;
    },
  };
}
