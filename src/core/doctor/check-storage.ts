import { createHash, randomBytes } from 'node:crypto';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import pg from 'pg';
import type { Finding } from '../../contract/console/records.ts';
import { formatQuantity } from '../../contract/text.ts';
import { BackupFileError, type BackupHeader, newestBackup, newestBackupOf, PICTURES } from '../backups/backup-file.ts';
import { readBackup, rowsOf, verifyBackup } from '../backups/read-backup.ts';
import { loadBackup } from '../backups/restore-backup.ts';
import { readRows, readTableShapes, SITE_TABLES, type TableShape } from '../backups/site-tables.ts';
import { CoreError } from '../core-error.ts';
import { reasonOf } from '../database/connect.ts';
import type { Database, Sql } from '../database/database.ts';
import { isPermissionDenied } from '../database/database-errors.ts';
import { readMigrations } from '../database/migrate.ts';
import { disableTimeouts } from '../database/transactions.ts';
import { type MeasureDisk, measureDisk, systemCode } from '../file-system.ts';
import { failure, ok, warning } from './finding.ts';

/** Larger backups are only verified, because a trial restore would keep the database busy for too long. */
export const MAX_TRIAL_RESTORE_ROWS = 200_000;

const CHECK = 'backups';

/** The tolerated difference between the clocks of two machines. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** The finding if BACKUP_DIR is unset. */
export const NO_BACKUPS = warning(
  CHECK,
  'none are scheduled',
  'Set BACKUP_DIR to a folder on another disk, or run `groundswell backup` on a timer.',
);

interface BackupsToCheck {
  folder: string;
  intervalMs: number;
  /** The folder of the migrations. */
  migrations: string;
  now?: () => number;
}

/**
 * Checks that the newest backup of this database is recent, complete and restorable, by a trial restore into a
 * temporary schema. A large backup is only verified. Without a database, the newest backup of any database is verified.
 */
export async function checkBackups(
  database: Database | undefined,
  { folder, intervalMs, migrations, now = Date.now }: BackupsToCheck,
): Promise<Finding> {
  let hasTrialBegun = false;
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const path = await (database ? newestBackupOf(database, folder) : newestBackup(folder));
    if (path === undefined)
      return failure(
        CHECK,
        `there are none of this database in ${folder}`,
        'A running site writes a backup at the interval set by BACKUP_EVERY. If none appears, check its log.',
      );
    const header = await verifyBackup(path);
    const rows = rowsOf(header);
    let result = 'is complete (no trial restore)';
    if (database && rows <= MAX_TRIAL_RESTORE_ROWS) {
      hasTrialBegun = true;
      const isRestored = await tryRestore(database, path, migrations);
      result = isRestored
        ? 'passed a trial restore'
        : 'is complete (no trial restore: the role may not create schemas)';
    }
    const ageMs = now() - Date.parse(header.createdAt);
    const message = `${path} of ${header.createdAt} with ${formatQuantity(rows, 'row')} ${result}`;
    if (ageMs < -MAX_CLOCK_DIFFERENCE_MS)
      return warning(
        CHECK,
        `${message}, but its time is in the future`,
        'Check the clocks of this machine and of the database server.',
      );
    if (ageMs > 2 * intervalMs)
      return warning(CHECK, `${message}, but is old`, 'Check the log of the site for the reason.');
    return ok(CHECK, message);
  } catch (error) {
    if (error instanceof BackupFileError)
      return failure(CHECK, error.message, 'Write another backup: `groundswell backup FILE`.');
    if (error instanceof CoreError || error instanceof pg.DatabaseError)
      return failure(
        CHECK,
        `${hasTrialBegun ? 'the trial restore failed' : 'the database cannot be read'}: ${reasonOf(error).message}`,
        'Correct the error, then run `groundswell doctor` again.',
      );
    const reason = systemCode(error) ?? (error instanceof Error ? error.message : String(error));
    return failure(
      CHECK,
      `${folder}: ${reason}`,
      'Check that BACKUP_DIR is correct, that its disk is mounted, and that this user may write to it.',
    );
  }
}

/** Thrown after a successful trial to roll the transaction back. */
class TrialRollback extends Error {}

/**
 * Restores a backup into a temporary schema with the tables of this program's migrations, and compares every row with
 * the backup. Everything is rolled back, and visitors do not wait.
 * @returns false if the role may not create the schema, which the site itself does not need.
 * @throws BackupFileError, or the database's error if the restore failed.
 */
async function tryRestore(database: Database, path: string, migrationsFolder: string): Promise<boolean> {
  const migrations = await readMigrations(migrationsFolder);
  const schema = `groundswell_trial_${randomBytes(4).toString('hex')}`;
  try {
    return await database.transaction(async (sql) => {
      await disableTimeouts(sql);
      await sql.query("SET LOCAL TimeZone = 'UTC'");
      await sql.query(`CREATE SCHEMA ${schema}`);
      // With a single schema in the search path, the names of tables can refer only to tables of the trial.
      await sql.query(`SET LOCAL search_path = ${schema}`);
      for (const migration of migrations) await sql.query(migration.sql);
      const tables = await readTableShapes(sql, SITE_TABLES);
      const header = await loadBackup(sql, path, tables, { migrations: migrations.map(({ name }) => name) });
      await compare(sql, path, header, tables);
      throw new TrialRollback();
    });
  } catch (error) {
    if (error instanceof TrialRollback) return true;
    if (isPermissionDenied(error)) return false;
    throw error;
  }
}

async function compare(sql: Sql, path: string, header: BackupHeader, tables: readonly TableShape[]): Promise<void> {
  const checksums = new Map<string, string>();
  for await (const piece of readBackup(path)) if (piece.kind === 'table') checksums.set(piece.table, piece.sha256);
  for (const { name, columns } of header.tables) {
    const shape = tables.find((table) => table.name === name);
    if (name === PICTURES || !shape) continue;
    const hash = createHash('sha256');
    for await (const rows of readRows(sql, { ...shape, columns })) hash.update(`${rows.join('\n')}\n`);
    if (hash.digest('hex') !== checksums.get(name))
      throw new BackupFileError(`${path}: in a trial restore, the rows of ${name} differ from the backup.`);
  }
}

const GIB = 2 ** 30;
const FAILURE_BYTES = GIB / 4;
const WARNING_BYTES = GIB;
const WARNING_SHARE = 0.05;

interface DiskOptions {
  /** The folder whose disk is measured, if not `folder` itself: the embedded database may be on another disk. */
  measured?: string;
  measure?: MeasureDisk;
}

/** Checks that the disk of `folder` has free space. `setting` is the name of the setting that determines the folder. */
export async function checkDisk(
  setting: string,
  folder: string,
  { measured = folder, measure = measureDisk }: DiskOptions = {},
): Promise<Finding> {
  const check = `disk of ${setting}`;
  try {
    const { free, all } = await measure(measured);
    const message = `${(free / GIB).toFixed(1)} GiB free of ${(all / GIB).toFixed(1)} GiB at ${measured}`;
    if (free >= WARNING_BYTES && free >= all * WARNING_SHARE) return ok(check, message);
    const advice = `Free some space there, or stop the site, ${await howToMove(setting, folder, measured)}.`;
    return free < FAILURE_BYTES ? failure(check, message, advice) : warning(check, message, advice);
  } catch (error) {
    return warning(
      check,
      `${measured} cannot be read (${systemCode(error) ?? error})`,
      `Check that ${setting} is correct.`,
    );
  }
}

async function howToMove(setting: string, folder: string, measured: string): Promise<string> {
  const [root, real] = await Promise.all([realpath(folder), realpath(measured)]);
  if (real === root || real.startsWith(join(root, sep)))
    return `copy ${folder} to a larger disk, and set ${setting} to the copy`;
  // A copy of `folder` would contain a link to the same database.
  return `copy ${real} to a larger disk, and replace it with a link to the copy`;
}

/**
 * Checks that the folder of the embedded database can be read, that it belongs to this user (unless this user is root),
 * that its group cannot write to it, and that others have no access.
 */
export async function checkDataFolder(clusterDir: string): Promise<Finding> {
  const stats = await stat(clusterDir).catch((error: unknown) => systemCode(error) ?? String(error));
  if (typeof stats === 'string')
    return failure(
      'data folder',
      `${clusterDir} cannot be read (${stats})`,
      'Run this command as the user that runs the site, or correct DATA_DIR.',
    );
  const { uid, mode } = stats;
  const permissions = mode & 0o777;
  const self = process.geteuid?.() ?? uid;
  if (self !== 0 && uid !== self) {
    return failure(
      'data folder',
      `${clusterDir} belongs to user id ${uid}, but this process runs as user id ${self}`,
      `Run Groundswell as that user, or change the owner with \`sudo chown -R ${self} ${await realpath(clusterDir)}\`.`,
    );
  }
  if ((permissions & 0o027) !== 0)
    return failure(
      'data folder',
      `other users can access ${clusterDir}, which has the mode ${permissions.toString(8)}`,
      `Run \`chmod 700 ${clusterDir}\`.`,
    );
  return ok('data folder', `${clusterDir} has safe permissions`);
}
