import { open } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { rowsOf, verifyBackup } from '../../core/backups/read-backup.ts';
import { restoreBackup } from '../../core/backups/restore-backup.ts';
import { SITE_TABLES } from '../../core/backups/site-tables.ts';
import { readMigrations } from '../../core/database/migrate.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { readSettings } from '../../settings/settings.ts';
import { fileKindOf, jsonOption, UsageError } from '../arguments.ts';
import { confirm, requireTerminal } from '../confirm.ts';
import { print, printError, printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { untilInterrupted, withDatabase } from '../with-database.ts';
import { describeBackup } from './backup.ts';

interface RestoreFlags {
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore the site from a backup, also while it runs')
    .argument('<file>', 'a backup, written by `backup` or by the site')
    .option('--replace', 'discard everything on the site; without it, the site must be empty')
    .option('--yes', 'do not ask for confirmation')
    .addOption(jsonOption('{ "createdAt": …, "restored": { "products": 67, "upvotes": 145, … } }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell restore site.backup                  into a site without products
  groundswell restore --replace site.backup        asks for confirmation
  groundswell restore --replace --yes site.backup  for a script

The whole file is checked first, and either all of it is restored or nothing.`,
    )
    .action(async (file: string, { replace = false, yes = false, json = false }: RestoreFlags) => {
      const path = resolve(file);
      if (replace && !yes) requireTerminal();
      await refuseProductFile(path);
      const checking = startProgress('Checking the backup');
      const found = await verifyBackup(path, checking.at).finally(checking.end);
      warnOfMissingTables(found.tables.map(({ name }) => name));
      const question = `Discard everything on this site and restore ${describeBackup(found)}?`;
      if (replace && !yes && !(await confirm(question))) return print('Nothing was changed.');
      const header = await untilInterrupted((signal) => restore(path, replace, rowsOf(found), signal));
      const tables = Object.fromEntries(header.tables.map(({ name, rows }) => [name, rows]));
      if (json) return printJson({ createdAt: header.createdAt, restored: tables });
      print(`Restored ${describeBackup(header)}.`);
    });
}

/** A backup of an older version lacks newer tables; any other missing table may have been removed on purpose. */
function warnOfMissingTables(names: readonly string[]): void {
  const missing = SITE_TABLES.filter((name) => !names.includes(name));
  if (missing.length === 0) return;
  printError(
    `Warning: the backup lacks ${missing.join(', ')}. After the restore ${missing.length === 1 ? 'this table is' : 'these tables are'} empty.`,
  );
}

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** @throws UsageError for a file of products, such as an export. A missing file is reported by the check of the backup. */
async function refuseProductFile(path: string): Promise<void> {
  if (fileKindOf(path) === undefined) return;
  const file = await open(path).catch(() => undefined);
  if (!file) return;
  try {
    const { buffer } = await file.read(Buffer.alloc(GZIP_MAGIC.length), 0, GZIP_MAGIC.length, 0);
    if (buffer.equals(GZIP_MAGIC)) return;
  } finally {
    await file.close();
  }
  throw new UsageError(
    `${path} is an export, not a backup. Add its products to the site with \`groundswell import ${basename(path)}\`; \`restore\` reads what \`backup\` wrote.`,
  );
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
          pictureFolder: pictureFolder(readSettings(process.env).dataDir),
          target: basename(path),
          onProgress,
        }),
      )
      .finally(progress.end);
  });
}
