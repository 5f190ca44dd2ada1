import { randomUUID } from 'node:crypto';
import { access, constants, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pruneBackups, removePartialBackups, scheduledName } from '../../core/backups/backup-folder.ts';
import { endLease, keepLease, type Lease, lastDoneAt, takeLease } from '../../core/backups/lease.ts';
import { writeBackup } from '../../core/backups/write-backup.ts';
import type { Connection } from '../../core/database/connect.ts';
import type { Log } from '../../core/log.ts';
import type { BackupSettings } from '../../settings/backup-settings.ts';
import { PACKAGE_VERSION } from '../../settings/package-root.ts';
import { StartError } from '../start-error.ts';

export interface ScheduledBackups {
  /** When the last backup was made that is whole, by whichever process of the site. */
  lastSuccess(): Date | undefined;
  /** How many attempts of this process failed. */
  failures(): number;
  /** Gives up what is under way. */
  close(): Promise<void>;
}

const LEASE = 'scheduled backup';

export interface ScheduleTimes {
  /** How often it is asked whether a backup is due. */
  pollMs: number;
  /** A process that was killed while it made one holds up the others for as long. */
  heldMs: number;
  /** Between a failure and the next attempt, by whichever process. */
  retryMs: number;
}

const TIMES: ScheduleTimes = { pollMs: 15_000, heldMs: 60_000, retryMs: 5 * 60_000 };

/**
 * Makes the folder of the backups, for this user alone where it is missing.
 * @throws StartError where it cannot be written.
 */
export async function prepareBackupFolder({ folder }: BackupSettings): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new StartError(
      `BACKUP_DIR: ${folder} cannot be written (${code}). Set it to a folder that this user may write, or change its owner.`,
      { cause: error },
    );
  }
}

/**
 * Makes a backup whenever one is due, for as long as the site runs. Of all processes on one database one makes it: which, a
 * lease in the database decides. What is old is removed when the new one is whole.
 */
export function scheduleBackups(
  connection: Pick<Connection, 'database' | 'withoutTimeLimit'>,
  { folder, everyMs, keep, pictureFolder }: BackupSettings & { pictureFolder?: string },
  log: Log,
  { pollMs, heldMs, retryMs }: ScheduleTimes = TIMES,
): ScheduledBackups {
  const { database } = connection;
  const holder = randomUUID();
  const closing = new AbortController();
  let last: Date | undefined;
  let failures = 0;
  let running: Promise<void> | undefined;
  const poll = () => {
    running ??= look().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(poll, pollMs).unref();
  poll();

  async function look(): Promise<void> {
    try {
      const lease = await takeLease(database, LEASE, { holder, everyMs, heldMs });
      if (lease) await work(lease);
      last = await lastDoneAt(database, LEASE);
    } catch (error) {
      // The site says by other means that its database is away; whether a backup is due is asked again soon.
      if (!closing.signal.aborted) log.warn({ err: error }, 'It could not be found out whether a backup is due');
    }
  }

  async function work(lease: Lease): Promise<void> {
    const lost = new AbortController();
    const keeping = setInterval(() => {
      keepLease(database, LEASE, holder, heldMs)
        .then((isKept) => isKept || lost.abort(new Error('another process has taken over')))
        .catch((error: unknown) => log.warn({ err: error }, 'The lease of the backup could not be renewed'));
    }, heldMs / 4).unref();
    try {
      const path = await backUp(lease, AbortSignal.any([closing.signal, lost.signal]));
      await endLease(database, LEASE, holder, { doneAt: lease.begunAt });
      const removed = await pruneBackups(folder, lease.tag, keep);
      log.info({ path, removed }, 'Backup made');
    } catch (error) {
      if (closing.signal.aborted) return await endLease(database, LEASE, holder, { pauseMs: 0 });
      failures += 1;
      log.error({ err: error, folder }, 'The scheduled backup failed, and will be tried again');
      await endLease(database, LEASE, holder, { pauseMs: retryMs });
    } finally {
      clearInterval(keeping);
    }
  }

  async function backUp({ tag, begunAt }: Lease, signal: AbortSignal): Promise<string> {
    await removePartialBackups(folder, tag);
    const path = join(folder, scheduledName(tag, begunAt));
    await connection.withoutTimeLimit((patient) =>
      writeBackup(patient, path, { groundswell: PACKAGE_VERSION, pictureFolder, signal }),
    );
    return path;
  }

  return {
    lastSuccess: () => last,
    failures: () => failures,
    async close() {
      clearInterval(timer);
      closing.abort(new Error('the site stops'));
      await running;
    },
  };
}
