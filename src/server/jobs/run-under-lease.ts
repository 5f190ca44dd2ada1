import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../core/database/database.ts';
import { acquireLease, type Lease, type LeaseName, releaseLease, renewLease } from '../../core/leases/lease.ts';
import type { Log } from '../../core/runtime.ts';

export interface LeaseTimes {
  /** The interval at which each process checks for work. */
  pollMs: number;
  /** How long a lease lasts without renewal. After a crash, other processes wait up to this long. */
  leaseMs: number;
  /** The time between a failed run and the next attempt, in any process. */
  retryMs: number;
}

/** A job for the whole site, which only one process runs at a time. */
interface LeasedJob {
  lease: LeaseName;
  /** The minimum time between the starts of two runs. */
  intervalMs?: number;
  /** A cheap check before the lease is acquired. If unset, only `intervalMs` decides whether the job is due. */
  isDue?(): Promise<boolean>;
  /** `signal` aborts when the site stops or another process has taken over the lease. */
  run(lease: Lease, signal: AbortSignal): Promise<void>;
  /** Called at every poll after a successful check, whether or not there is work, and also during a run. */
  afterPoll?(): Promise<void>;
  messages: {
    /** Logged if `isDue` or `afterPoll` fails, or if the lease cannot be acquired or released. */
    checkFailed: string;
    failed: string;
    notRenewed: string;
  };
}

interface LeasedWorker {
  /** Returns the number of failed runs in this process. */
  failures(): number;
  /** Aborts the current run and releases the lease, so another process can take over immediately. */
  close(): Promise<void>;
}

/** Runs a job whenever it is due, while the site runs. A lease in the database decides which process runs it. */
export function runUnderLease(
  database: Database,
  job: LeasedJob,
  log: Log,
  { pollMs, leaseMs, retryMs }: LeaseTimes,
): LeasedWorker {
  const { lease: name, intervalMs = 0, messages } = job;
  const holder = randomUUID();
  // An expiry further in the future than this is ignored, because it was stored before the database's clock was set
  // back. Twice the longest expiry tolerates a new primary whose clock is slightly behind that of its predecessor.
  const maxLeaseMs = 2 * Math.max(leaseMs, retryMs);
  const closing = new AbortController();
  let failures = 0;
  let running: Promise<void> | undefined;
  const polling = poll();

  async function poll(): Promise<void> {
    for (let isFailing = false; !closing.signal.aborted; ) {
      try {
        await runIfDue();
        isFailing = false;
      } catch (error) {
        // The warning is logged only once per outage, because some jobs check twice a second.
        if (!closing.signal.aborted && !isFailing) log.warn({ err: error }, messages.checkFailed);
        isFailing = true;
      }
      // `delay` rejects if the site stops.
      await delay(pollMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  async function runIfDue(): Promise<void> {
    if (!running && ((await job.isDue?.()) ?? true)) {
      const lease = await acquireLease(database, name, { holder, intervalMs, leaseMs, maxLeaseMs });
      // The run is not awaited, because the metrics that `afterPoll` reads must stay current during a long run.
      running = lease && work(lease).catch(reportUnreleased).finally(clearRunning);
    }
    await job.afterPoll?.();
  }

  function reportUnreleased(error: unknown): void {
    if (!closing.signal.aborted) log.warn({ err: error }, messages.checkFailed);
  }

  function clearRunning(): void {
    running = undefined;
  }

  async function work(lease: Lease): Promise<void> {
    const stopping = new AbortController();
    // `AbortSignal.any` would leave a weak reference in `closing.signal` after each run (Node.js 20).
    const stop = () => stopping.abort(closing.signal.reason);
    closing.signal.addEventListener('abort', stop);
    if (closing.signal.aborted) stop();
    let renewing = Promise.resolve();
    const renew = () =>
      renewLease(database, name, holder, leaseMs)
        .then((isRenewed) => isRenewed || stopping.abort(new Error('another process has taken over the lease')))
        .catch((error: unknown) => log.warn({ err: error }, messages.notRenewed));
    const renewal = setInterval(() => {
      // Discards the results of renewals, which would otherwise accumulate during a run that lasts for days.
      renewing = Promise.all([renewing, renew()]).then(() => undefined);
    }, leaseMs / 4).unref();
    let outcome: Parameters<typeof releaseLease>[3] = { ranAt: lease.begunAt };
    try {
      await job.run(lease, stopping.signal);
    } catch (error) {
      outcome = { pauseMs: closing.signal.aborted ? 0 : retryMs };
      if (!closing.signal.aborted) {
        failures += 1;
        log.error({ err: error }, messages.failed);
      }
    }
    closing.signal.removeEventListener('abort', stop);
    clearInterval(renewal);
    // A renewal that arrived after the release would extend the released lease.
    await renewing;
    await releaseLease(database, name, holder, outcome);
  }

  return {
    failures: () => failures,
    async close() {
      closing.abort(new Error('the site is stopping'));
      await polling;
      await running;
    },
  };
}
