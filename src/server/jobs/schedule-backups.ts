import { access, constants, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { newestBackup, pruneBackups, removePartialBackups, scheduledName } from '../../core/backups/backup-file.ts';
import { writeBackup } from '../../core/backups/write-backup.ts';
import type { Connection } from '../../core/database/connect.ts';
import { type MeasureDisk, makeFolder, measureDisk, readOnlyAdvice, systemCode } from '../../core/file-system.ts';
import { type Lease, lastRunAt } from '../../core/leases/lease.ts';
import type { Log } from '../../core/runtime.ts';
import type { BackupSettings } from '../../settings/backup-settings.ts';
import { PACKAGE_VERSION } from '../../settings/package-root.ts';
import { StartError } from '../start-error.ts';
import { type LeaseTimes, runUnderLease } from './run-under-lease.ts';

export interface ScheduledBackups {
  /** Returns when the last complete scheduled backup began, in any process. */
  lastSuccess(): Date | undefined;
  /** Returns the number of attempts that failed in this process. */
  failures(): number;
  /** Stops the schedule and aborts the current backup. */
  close(): Promise<void>;
}

const LEASE = 'scheduled backup';

const LEASE_TIMES: LeaseTimes = { pollMs: 15_000, leaseMs: 60_000, retryMs: 5 * 60_000 };

/**
 * Creates the backup folder if it is missing. Only this user can access a new folder.
 * @throws StartError if this user cannot create, read and write it.
 */
export async function prepareBackupFolder({ folder }: BackupSettings): Promise<void> {
  try {
    await makeFolder(folder, 0o700);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = systemCode(error) ?? error;
    throw new StartError(
      `BACKUP_DIR: cannot create, read or write ${folder} (${code}). Choose a folder that this user can read and write, or change its owner.${readOnlyAdvice(error)}`,
      { cause: error },
    );
  }
}

export const DAMAGED_PICTURE = 'A picture is damaged and was left out of the backup. Upload it again.';

/** The free space that backups leave to a database on the same disk: 256 MiB, or a twentieth of a disk below 5 GiB. */
const RESERVED_BYTES = 2 ** 28;
const RESERVED_SHARE = 0.05;

/** @throws Error if the disk has too little free space for `expectedBytes` in addition to the reserved space. */
async function requireDiskSpace(folder: string, expectedBytes: number, measure: MeasureDisk): Promise<void> {
  // Some file systems cannot be measured, or report a size of 0.
  const { free, all } = await measure(folder).catch(() => ({ free: 0, all: 0 }));
  if (all === 0 || free >= expectedBytes + Math.min(RESERVED_BYTES, all * RESERVED_SHARE)) return;
  throw new Error(
    `The disk of BACKUP_DIR has too little free space for a backup (${Math.floor(free / 2 ** 20)} MiB). Delete old backups and lower BACKUP_KEEP, or use another disk.`,
  );
}

/**
 * Makes backups on schedule while the site runs. If several processes share a database, one of them makes each backup.
 * Old backups are deleted once the new one is complete.
 */
export function scheduleBackups(
  connection: Pick<Connection, 'database' | 'withoutStatementTimeout'>,
  { folder, intervalMs, maxBackups, pictureFolder }: BackupSettings & { pictureFolder?: string },
  log: Log,
  times: LeaseTimes = LEASE_TIMES,
  measure: MeasureDisk = measureDisk,
): ScheduledBackups {
  const { database } = connection;
  let last: Date | undefined;
  /**
   * The size that the last failed attempt reached; 0 after a success. The next attempt needs at least as much space.
   */
  let reachedBytes = 0;
  const worker = runUnderLease(
    database,
    {
      lease: LEASE,
      intervalMs,
      async run(lease, signal) {
        const path = await backUp(lease, signal);
        const removed = await pruneBackups(folder, basename(path), maxBackups).catch((error: unknown) => {
          log.warn({ err: error, folder }, 'Cannot delete old backups; trying again after the next backup');
          return [];
        });
        log.info({ path, removed }, 'Backup written');
      },
      async afterPoll() {
        last = await lastRunAt(database, LEASE);
      },
      messages: {
        checkFailed: 'Cannot check whether a backup is due; trying again',
        failed: `Cannot write the scheduled backup to ${folder}; trying again`,
        notRenewed: 'Cannot renew the backup lease',
      },
    },
    log,
    times,
  );

  async function backUp({ tag, begunAt }: Lease, signal: AbortSignal): Promise<string> {
    await removePartialBackups(folder, tag);
    const newest = await newestBackup(folder, tag);
    const newestBytes = newest === undefined ? 0 : (await stat(newest)).size;
    await requireDiskSpace(folder, Math.max(newestBytes, reachedBytes), measure);
    const path = join(folder, scheduledName(tag, begunAt));
    const checkSpace = (writtenBytes: number) => {
      reachedBytes = writtenBytes;
      return requireDiskSpace(folder, 0, measure);
    };
    await connection.withoutStatementTimeout((unlimited) =>
      writeBackup(unlimited, path, {
        groundswell: PACKAGE_VERSION,
        pictureFolder,
        onDamagedPicture: (picture) => log.warn({ picture }, DAMAGED_PICTURE),
        checkSpace,
        signal,
      }),
    );
    reachedBytes = 0;
    return path;
  }

  return { lastSuccess: () => last, failures: worker.failures, close: worker.close };
}
