import { forgetOldKeys } from '../core/comments/idempotency-keys.ts';
import type { Connection } from '../core/database/connect.ts';
import type { Database } from '../core/database/database.ts';
import type { Log } from '../core/log.ts';
import { pictureFolder } from '../core/pictures/picture-store.ts';
import type { Settings } from '../settings/settings.ts';
import { scheduleBackups } from './backups/schedule-backups.ts';
import type { Closeable } from './closeable.ts';
import type { SiteMetrics } from './metrics/site-metrics.ts';
import { watchDrift } from './metrics/watch-drift.ts';

const HOUSEKEEPING_INTERVAL_MS = 60 * 60 * 1000;

/** What is done once for all processes of a machine: backups, housekeeping, and a look at the counts. */
export function startChores(
  connection: Connection,
  settings: Settings,
  metrics: SiteMetrics | undefined,
  log: Log,
): Closeable[] {
  const { backups: schedule, dataDir } = settings;
  const drift = watchDrift(connection.database, log);
  metrics?.watchDrift(drift);
  const closeables: Closeable[] = [drift, keepHouse(connection.database, log)];
  if (schedule) {
    const backups = scheduleBackups(connection, { ...schedule, pictureFolder: pictureFolder(dataDir) }, log);
    metrics?.watchBackups(backups);
    closeables.push(backups);
  }
  return closeables;
}

function keepHouse(database: Database, log: Log): Closeable {
  const tidy = () =>
    forgetOldKeys(database, new Date()).catch((error: unknown) => log.warn({ err: error }, 'Housekeeping failed'));
  const timer = setInterval(tidy, HOUSEKEEPING_INTERVAL_MS).unref();
  return { close: () => clearInterval(timer) };
}
