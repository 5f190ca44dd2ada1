import { readEarlierTime } from '../../core/database/clock.ts';
import type { Connection } from '../../core/database/connect.ts';
import { finalizeDue, isFinalizingDue } from '../../core/leaderboards/finalize.ts';
import type { LeaderboardRules } from '../../core/leaderboards/get-leaderboard.ts';
import type { Log } from '../../core/runtime.ts';
import { type BoardStats, readBoardStats } from '../../core/stats/read-stats.ts';
import type { RecordEvents } from '../../core/webhooks/outbox.ts';
import type { Settings } from '../../settings/settings.ts';
import { type LeaseTimes, runUnderLease } from './run-under-lease.ts';

export interface Finalizer {
  /** Returns the latest counts of leaderboards and votes. */
  stats(): BoardStats;
  /** Returns the seconds that this process has spent finalizing results. */
  seconds(): number;
  /** Returns the number of attempts that failed in this process. */
  failures(): number;
  /** Stops the schedule. A current run ends before it finalizes another day. */
  close(): Promise<void>;
}

const LEASE_TIMES: LeaseTimes = { pollMs: 20_000, leaseMs: 60_000, retryMs: 60_000 };

/**
 * Results are finalized this long after they are due, because votes of the period may still be written until their
 * statements time out.
 */
const LAST_VOTE_MS = 60_000;

/** Finalizes results when they are due, while the site runs. Only one process per database finalizes at a time. */
export function scheduleFinalizing(
  connection: Pick<Connection, 'database' | 'withoutStatementTimeout'>,
  { timeZone, reviewHours, votesPerNetwork }: Settings['launches'],
  { log, recordEvents }: { log: Log; recordEvents?: RecordEvents | undefined },
  times: LeaseTimes = LEASE_TIMES,
): Finalizer {
  const { database } = connection;
  let rules: LeaderboardRules = { now: new Date(), timeZone, reviewHours };
  let stats: BoardStats = { boards: { open: 0, final: 0, overdue: 0 }, votes: { counted: 0, network: 0, operator: 0 } };
  let seconds = 0;
  const worker = runUnderLease(
    database,
    {
      lease: 'final leaderboards',
      async isDue() {
        rules = { ...rules, now: new Date((await readEarlierTime(database)).getTime() - LAST_VOTE_MS) };
        return isFinalizingDue(database, rules);
      },
      async run(_lease, signal) {
        const started = performance.now();
        try {
          const { days, periods } = await connection.withoutStatementTimeout((unlimited) =>
            finalizeDue(unlimited, { rules, votesPerNetwork, signal, recordEvents }),
          );
          if (days.length + periods.length > 0) log.info({ days, periods }, 'Leaderboards are final');
        } finally {
          seconds += (performance.now() - started) / 1_000;
        }
      },
      async afterPoll() {
        stats = await readBoardStats(database, rules);
      },
      messages: {
        checkFailed: 'Cannot check whether a leaderboard result is due; trying again',
        failed: 'Cannot finalize leaderboards; trying again',
        notRenewed: 'Cannot renew the lease for finalizing leaderboards',
      },
    },
    log,
    times,
  );
  return { stats: () => stats, seconds: () => seconds, failures: worker.failures, close: worker.close };
}
