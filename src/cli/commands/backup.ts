import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { recordAudit } from '../../core/audit/audit-log.ts';
import type { BackupHeader } from '../../core/backups/backup-format.ts';
import { rowsOf } from '../../core/backups/read-backup.ts';
import { writeBackup } from '../../core/backups/write-backup.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { PACKAGE_VERSION } from '../../settings/package-root.ts';
import { readSettings } from '../../settings/settings.ts';
import { jsonOption, UsageError } from '../arguments.ts';
import { countOf, print, printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { untilInterrupted, withDatabase } from '../with-database.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('write the whole site to one compressed file, also while it runs')
    .argument('<file>', 'where to write it; it appears only once it is complete')
    .option('--force', 'replace an existing file')
    .addOption(
      jsonOption(
        '{ "file": …, "bytes": …, "createdAt": …, "migrations": […], "tables": [{ "name": "products", "columns": […], "rows": 67 }, …] }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell backup site.backup                       the site as of now
  groundswell backup --force /mnt/backups/site.backup  replaces the last one
  zgrep '^#' site.backup                               shows what it contains

It contains visitors' sessions, so only its owner can read the file.
The site makes backups on a schedule where BACKUP_DIR is set.`,
    )
    .action(async (file: string, { force = false, json = false }: { force?: boolean; json?: boolean }) => {
      const path = resolve(file);
      await checkOutputPath(path, { force });
      const { header, bytes } = await untilInterrupted((signal) => backUp(path, signal));
      if (json) return printJson({ file: path, bytes, ...header });
      print(`Backed up ${describeBackup(header)}.`);
      print(`${path}  ${bytes.toLocaleString('en')} bytes`);
    });
}

/** The content of a backup: `67 products, 145 upvotes and 24 comments as of 2026-11-20T22:31:33Z`. */
export function describeBackup({ tables, createdAt }: BackupHeader): string {
  const count = (table: string, noun: string) => countOf(tables.find(({ name }) => name === table)?.rows ?? 0, noun);
  return `${count('products', 'product')}, ${count('upvotes', 'upvote')} and ${count('comments', 'comment')} as of ${createdAt}`;
}

function backUp(path: string, signal: AbortSignal) {
  return withDatabase(async (connection) => {
    const progress = startProgress('Backing up');
    const written = await connection
      .withoutTimeLimit((database) =>
        writeBackup(database, path, {
          groundswell: PACKAGE_VERSION,
          pictureFolder: pictureFolder(readSettings(process.env).dataDir),
          onProgress: progress.at,
          signal,
        }),
      )
      .catch((error: unknown) => {
        throw asOutputError(error, path);
      })
      .finally(progress.end);
    const details = { createdAt: written.header.createdAt, rows: rowsOf(written.header), bytes: written.bytes };
    await recordAudit(connection.database, { action: 'backup', target: basename(path), details });
    return written;
  });
}

/** Checks that a file can be written at this path, before any database is started for it. @throws UsageError */
export async function checkOutputPath(path: string, { force }: { force: boolean }): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`there is no folder ${dirname(path)}: create it first`);
  const present = await stat(path).catch(() => undefined);
  if (present && !present.isFile()) throw new UsageError(`${path} is not a file: choose another name`);
  if (present && !force) throw new UsageError(`${path} exists: choose another name, or add --force to replace it`);
}

/** Turns a denied write into a usage error; other errors stay as they are. */
export function asOutputError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return error;
  return new UsageError(
    `this user may not write ${basename(path)} into ${dirname(path)} (${code}): choose another folder, or change its owner`,
  );
}
