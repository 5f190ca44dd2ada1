import { resolve } from 'node:path';
import { readInterval, wholeNumber } from './read-value.ts';

/** Scheduled backups. */
export interface BackupSettings {
  /** An absolute path. */
  folder: string;
  intervalMs: number;
  /** Number of backups to retain. */
  maxBackups: number;
}

export const BACKUP_SETTINGS = {
  backupDir: {
    name: 'BACKUP_DIR',
    default: undefined,
    read: (text: string) => resolve(text),
    about: 'Folder of scheduled [backups](#backup_dir-backup_every-and-backup_keep)',
  },
  backupEveryMs: { name: 'BACKUP_EVERY', default: '1d', read: readInterval, about: 'Interval of scheduled backups' },
  backupKeep: {
    name: 'BACKUP_KEEP',
    default: '7',
    read: wholeNumber(1, 9_999, 'is invalid: the number of backups must be'),
    about: 'Scheduled backups to keep (1–9999)',
  },
} as const;

/**
 * Returns an error for each of BACKUP_EVERY and BACKUP_KEEP that is set. Call it if BACKUP_DIR is unset: an operator
 * who sets an interval expects backups. Settings that already have an error in `errors` are left out.
 */
export function unusedBackupSettings(
  environment: Readonly<Record<string, string | undefined>>,
  errors: readonly string[],
): string[] {
  const set = ['BACKUP_EVERY', 'BACKUP_KEEP'].filter((name) => environment[name]?.trim());
  const unused = set.filter((name) => !errors.some((error) => error.startsWith(`${name}: `)));
  return unused.map((name) => `${name}: this has no effect without BACKUP_DIR, the folder of the backups`);
}
