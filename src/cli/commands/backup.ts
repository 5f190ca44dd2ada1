import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { recordAct } from '../../core/audit/record-act.ts';
import { rowsOf } from '../../core/backups/read-backup.ts';
import { writeBackup } from '../../core/backups/write-backup.ts';
import { PACKAGE_VERSION } from '../../settings/package-root.ts';
import { describeBackup } from '../describe-backup.ts';
import { ownPictureFolder } from '../own-picture-folder.ts';
import { startProgress } from '../progress.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('write everything that the site holds into one compressed file, while it runs')
    .argument('<file>', 'where to write it; it appears when it is whole')
    .option('--force', 'replace a file of that name')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell backup site.backup                        everything as of this moment
  groundswell backup --force /mnt/backups/site.backup   in place of the last one
  zgrep '^#' site.backup                                what a backup holds

Sessions of visitors are part of it: only its owner can read the file. The site can make backups by itself: see BACKUP_DIR.`,
    )
    .action(async (file: string, { force = false, json = false }: { force?: boolean; json?: boolean }) => {
      const path = resolve(file);
      await mustBeFree(path, force);
      const { header, bytes } = await untilInterrupted((signal) => backUp(path, signal));
      if (json) return console.log(JSON.stringify({ file: path, bytes, ...header }));
      console.log(`Backed up ${describeBackup(header)}.\n${path}  ${bytes.toLocaleString('en')} bytes`);
    });
}

/** Said before any database is started for it. */
async function mustBeFree(path: string, force: boolean): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`there is no folder ${dirname(path)}: make it first`);
  const present = await stat(path).catch(() => undefined);
  if (present && !present.isFile()) throw new UsageError(`${path} is no file: name another one`);
  if (present && !force)
    throw new UsageError(`${path} is there already: name another file, or add --force to replace it`);
}

function backUp(path: string, signal: AbortSignal) {
  return withDatabase(async (connection) => {
    const progress = startProgress('Backing up');
    const written = await connection
      .withoutTimeLimit((database) =>
        writeBackup(database, path, {
          groundswell: PACKAGE_VERSION,
          pictureFolder: ownPictureFolder(),
          onProgress: progress.at,
          signal,
        }),
      )
      .catch((error: unknown) => {
        throw asUsageError(error, dirname(path));
      })
      .finally(progress.end);
    const details = { createdAt: written.header.createdAt, rows: rowsOf(written.header), bytes: written.bytes };
    await recordAct(connection.database, { act: 'backup', subject: basename(path), details });
    return written;
  });
}

/** A folder that cannot be written into is the operator's to mend. */
function asUsageError(error: unknown, folder: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error;
  return new UsageError(`this user may not write into ${folder} (${code}): name another folder, or change its owner`);
}
