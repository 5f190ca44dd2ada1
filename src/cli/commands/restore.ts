import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { rowsOf, verifyBackup } from '../../core/backups/read-backup.ts';
import { restoreBackup } from '../../core/backups/restore-backup.ts';
import { readMigrations } from '../../core/database/migrate.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { confirm } from '../confirm.ts';
import { describeBackup } from '../describe-backup.ts';
import { ownPictureFolder } from '../own-picture-folder.ts';
import { startProgress } from '../progress.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { UsageError } from '../usage-error.ts';
import { withDatabase } from '../with-database.ts';

interface RestoreFlags {
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('make the site what it was when a backup was made, while it runs')
    .argument('<file>', 'a file that `backup`, or the site itself, wrote')
    .option('--replace', 'give up whatever the site holds; without it, only an empty site is filled')
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell restore site.backup                   into a site that has no product yet
  groundswell restore --replace site.backup         asks, then gives up what is there
  groundswell restore --replace --yes site.backup   for a script

The whole file is checked before anything is touched, and all of it is restored or nothing.`,
    )
    .action(async (file: string, { replace = false, yes = false, json = false }: RestoreFlags) => {
      const path = resolve(file);
      if (replace && !yes) mustHaveTerminal();
      const checking = startProgress('Checking the backup');
      const found = await verifyBackup(path, checking.at).finally(checking.end);
      const question = `Give up everything on this site for ${describeBackup(found)}?`;
      if (replace && !yes && !(await confirm(question))) return console.log('Nothing was changed.');
      const header = await untilInterrupted((signal) => restore(path, replace, rowsOf(found), signal));
      const tables = Object.fromEntries(header.tables.map(({ name, rows }) => [name, rows]));
      if (json) return console.log(JSON.stringify({ createdAt: header.createdAt, restored: tables }));
      console.log(`Restored ${describeBackup(header)}.`);
    });
}

/** Before a large file is read for nothing. */
function mustHaveTerminal(): void {
  if (process.stdin.isTTY && process.stderr.isTTY) return;
  throw new UsageError('--replace asks before it gives anything up, and there is no terminal to ask on: add --yes');
}

function restore(path: string, replace: boolean, allRows: number, signal: AbortSignal) {
  return withDatabase(async (connection) => {
    const migrations = (await readMigrations(PACKAGE_FOLDERS.migrations)).map(({ name }) => name);
    const progress = startProgress('Restoring');
    const onProgress = (rows: number) => {
      signal.throwIfAborted();
      progress.at(rows, allRows);
    };
    return await connection
      .withoutTimeLimit((database) =>
        restoreBackup(database, path, {
          replace,
          migrations,
          pictureFolder: ownPictureFolder(),
          subject: basename(path),
          onProgress,
        }),
      )
      .finally(progress.end);
  });
}
