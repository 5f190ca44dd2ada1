import { access, constants } from 'node:fs/promises';
import { newestBackup } from '../backups/backup-folder.ts';
import { BackupFileError } from '../backups/backup-format.ts';
import { rowsOf, verifyBackup } from '../backups/read-backup.ts';
import { rehearseRestore } from '../backups/rehearse-restore.ts';
import type { Database } from '../database/database.ts';
import { systemCode } from '../database/embedded/embedded-database-error.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** More rows than this are only read and checked: they would keep the database busy for longer than some seconds. */
const MOST_REHEARSED = 200_000;

const CHECK = 'backups';

export interface BackupsToCheck {
  folder: string;
  everyMs: number;
  /** Where the migrations lie. */
  migrations: string;
  now?: () => number;
}

/**
 * Whether the newest backup is young, whole, and can be restored: it is, into a schema of its own that is rolled back.
 * Without a database (undefined) it is only read.
 */
export async function checkBackups(
  database: Database | undefined,
  { folder, everyMs, migrations, now = Date.now }: BackupsToCheck,
): Promise<Finding> {
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const path = await newestBackup(folder);
    if (path === undefined)
      return fault(
        CHECK,
        `there is none in ${folder}`,
        'Start the site, which makes one at once, and look at its log.',
      );
    const header = await verifyBackup(path);
    const rows = rowsOf(header);
    const isRehearsed = database !== undefined && rows <= MOST_REHEARSED;
    if (isRehearsed) await rehearseRestore(database, path, migrations);
    const ageMs = now() - Date.parse(header.createdAt);
    const proven = isRehearsed ? 'was restored for trial' : 'is whole (not restored for trial)';
    const message = `${path} of ${header.createdAt} with ${rows.toLocaleString('en')} rows ${proven}`;
    if (ageMs > 2 * everyMs)
      return warning(CHECK, `${message}, but is old`, 'Look in the log of the site for why no newer one was made.');
    return ok(CHECK, message);
  } catch (error) {
    if (error instanceof BackupFileError)
      return fault(CHECK, error.message, 'Make another one: groundswell backup FILE.');
    const reason = systemCode(error) ?? (error instanceof Error ? error.message : String(error));
    return fault(
      CHECK,
      `${folder}: ${reason}`,
      'Check that BACKUP_DIR is right, that its disk is there, and that this user may write to it.',
    );
  }
}
