import { deleteExpiredKeys } from '../../core/comments/idempotency-keys.ts';
import { deleteOldSessions } from '../../core/console/sessions.ts';
import { createDriftSampler } from '../../core/counts/check-counts.ts';
import { readEarlierTime } from '../../core/database/clock.ts';
import type { Connection } from '../../core/database/connect.ts';
import type { Database } from '../../core/database/database.ts';
import { deleteOldImportChanges } from '../../core/imports/import-changes.ts';
import { deleteUnreferencedPictures } from '../../core/pictures/delete-unreferenced.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { HOUR_MS, type Log } from '../../core/runtime.ts';
import { deleteOldBursts } from '../../core/stats/upvote-bursts.ts';
import { countWaiting, type WaitingSubmissions } from '../../core/submissions/list-submissions.ts';
import { deleteClosedSubmissions } from '../../core/submissions/submission-row.ts';
import { deleteOldEvents, recordEvents } from '../../core/webhooks/outbox.ts';
import type { Settings } from '../../settings/settings.ts';
import {
  addBackupMetrics,
  addDriftMetrics,
  addLeaderboardMetrics,
  addSubmissionMetrics,
  addWebhookMetrics,
} from '../metrics/collected-metrics.ts';
import type { SiteMetrics } from '../metrics/site-metrics.ts';
import type { Closeable } from '../site.ts';
import { deliverWebhooks } from './deliver-webhooks.ts';
import { scheduleBackups } from './schedule-backups.ts';
import { scheduleFinalizing } from './schedule-finalizing.ts';

const HOUSEKEEPING_INTERVAL_MS = HOUR_MS;
/** The first run is a minute after the start, so even a site that restarts often deletes old data. */
const FIRST_HOUSEKEEPING_MS = 60_000;

/**
 * Starts the background jobs of an instance: finalizing leaderboards, backups, webhooks, housekeeping, checking counts,
 * and counting waiting submissions. Leases ensure that only one instance at a time finalizes, backs up or sends
 * webhooks. `close` ends all jobs concurrently.
 */
export function startBackgroundJobs(
  connection: Connection,
  settings: Settings,
  metrics: SiteMetrics | undefined,
  log: Log,
): Closeable {
  const { backups: schedule, dataDir } = settings;
  const drift = watchDrift(connection.database, log);
  if (metrics) addDriftMetrics(metrics.registers, drift);
  const finalizer = scheduleFinalizing(connection, settings.launches, {
    log,
    recordEvents: settings.webhooks && recordEvents,
  });
  if (metrics) addLeaderboardMetrics(metrics.registers, finalizer);
  const closeables: Closeable[] = [drift, finalizer, startHousekeeping(connection, pictureFolder(dataDir), log)];
  if (metrics && settings.submissions !== 'off') {
    const submissions = watchSubmissions(connection.database, log);
    addSubmissionMetrics(metrics.registers, submissions);
    closeables.push(submissions);
  }
  if (settings.webhooks) {
    const deliveries = deliverWebhooks(connection.database, settings.webhooks, { log });
    if (metrics) addWebhookMetrics(metrics.registers, deliveries);
    closeables.push(deliveries);
  }
  if (schedule) {
    const backups = scheduleBackups(connection, { ...schedule, pictureFolder: pictureFolder(dataDir) }, log);
    if (metrics) addBackupMetrics(metrics.registers, backups);
    closeables.push(backups);
  }
  return { close: () => Promise.all(closeables.map((job) => job.close())) };
}

type HousekeepingConnection = Pick<Connection, 'database' | 'withoutStatementTimeout'>;

/** Deletes old data every hour. `close` waits until the current part of a run has finished. */
export function startHousekeeping(
  connection: HousekeepingConnection,
  pictures: string,
  log: Pick<Log, 'info' | 'warn'>,
  firstRunMs = FIRST_HOUSEKEEPING_MS,
): Closeable {
  const closing = new AbortController();
  let running = Promise.resolve();
  let timer = setTimeout(run, firstRunMs).unref();
  function run(): void {
    running = deleteOldData(connection, pictures, log, { signal: closing.signal });
    timer = setTimeout(run, HOUSEKEEPING_INTERVAL_MS).unref();
  }
  return {
    close() {
      clearTimeout(timer);
      closing.abort();
      return running;
    },
  };
}

/**
 * Deletes data whose retention time has passed, until `signal` aborts. Never rejects: a failed part is logged and the
 * others continue.
 */
export async function deleteOldData(
  { database, withoutStatementTimeout }: HousekeepingConnection,
  pictures: string,
  log: Pick<Log, 'info' | 'warn'>,
  { now, signal }: { now?: Date; signal?: AbortSignal } = {},
): Promise<void> {
  // Pictures are dated by the clock of this machine, which stored them. All machines share the other data. Its age is
  // measured with `readEarlierTime`, so a machine whose clock is ahead deletes nothing too early.
  const parts = [
    deleteExpiredKeys,
    deleteOldSessions,
    // No index contains the time of an import's changes, so this part reads the changes of a month.
    (_: Database, time: Date) => withoutStatementTimeout((unlimited) => deleteOldImportChanges(unlimited, time)),
    deleteOldEvents,
    deleteClosedSubmissions,
    deleteOldBursts,
    // This part searches all products for references to pictures, so it may take long.
    () => withoutStatementTimeout((unlimited) => deletePictures(unlimited, pictures, log, now ?? new Date())),
  ];
  for (const part of parts) {
    if (signal?.aborted) return;
    const deleting = async () => part(database, now ?? (await readEarlierTime(database)));
    await deleting().catch((error: unknown) =>
      log.warn({ err: error }, 'Cannot delete old data; trying again in an hour'),
    );
  }
}

async function deletePictures(database: Database, folder: string, log: Pick<Log, 'info'>, now: Date): Promise<void> {
  const deleted = await deleteUnreferencedPictures(database, folder, now);
  if (deleted.length > 0) log.info({ pictures: deleted.length }, 'Deleted unreferenced pictures');
}

const SUBMISSION_INTERVAL_MS = 60_000;

interface SubmissionWatch {
  /** Returns the result of the last successful query. Queries run every minute. */
  waiting(): WaitingSubmissions;
  close(): void;
}

/** Counts waiting submissions for the metrics. */
export function watchSubmissions(database: Database, log: Log, intervalMs = SUBMISSION_INTERVAL_MS): SubmissionWatch {
  let last: WaitingSubmissions = { waiting: 0, suspectedSpam: 0, oldestSince: null };

  async function refresh(): Promise<void> {
    try {
      last = await countWaiting(database);
    } catch (error) {
      log.warn({ err: error }, 'Cannot count waiting submissions; trying again in a minute');
    }
  }

  void refresh();
  const timer = setInterval(refresh, intervalMs).unref();
  return { waiting: () => last, close: () => clearInterval(timer) };
}

interface DriftWatch {
  drift(): number;
  close(): void;
}

const DRIFT_INTERVAL_MS = 5_000;

/** Every five seconds, compares the stored counts of a few products with the number of their rows. */
export function watchDrift(database: Database, log: Log, intervalMs = DRIFT_INTERVAL_MS): DriftWatch {
  const sampler = createDriftSampler(database, log);
  let running = false;
  let isFailing = false;
  const timer = setInterval(step, intervalMs).unref();

  async function step(): Promise<void> {
    // The previous check may still be running, because counting millions of rows may take longer than the interval.
    if (running) return;
    running = true;
    try {
      const wrong = await sampler.step();
      isFailing = false;
      if (wrong.length > 0)
        log.error({ wrong }, 'Stored counts differ from the number of rows. Run `groundswell counts check --repair`.');
    } catch (error) {
      // Only the first failure of an outage is logged.
      if (!isFailing) log.warn({ err: error }, 'Cannot check counts; trying again');
      isFailing = true;
    } finally {
      running = false;
    }
  }
  return { drift: () => sampler.drift(), close: () => clearInterval(timer) };
}
