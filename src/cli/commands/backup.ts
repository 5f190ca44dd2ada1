import { open, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Command } from 'commander';
import { formatCount, formatQuantity } from '../../contract/text.ts';
import { recordAudit } from '../../core/audit/audit-log.ts';
import { type BackupHeader, PICTURES } from '../../core/backups/backup-file.ts';
import { rowsOf, verifyBackup } from '../../core/backups/read-backup.ts';
import { restoreBackup } from '../../core/backups/restore-backup.ts';
import { SITE_TABLES } from '../../core/backups/site-tables.ts';
import { deletePartialFiles, writeBackup } from '../../core/backups/write-backup.ts';
import { readMigrations } from '../../core/database/migrate.ts';
import { systemCode } from '../../core/file-system.ts';
import { pictureFolder } from '../../core/pictures/picture-store.ts';
import { PACKAGE_FOLDERS, PACKAGE_VERSION } from '../../settings/package-root.ts';
import { readSettings } from '../../settings/settings.ts';
import { fileKindOf, jsonOption, UsageError } from '../arguments.ts';
import { confirm, print, printError, printJson, requireTerminal, startProgress } from '../terminal/output.ts';
import { untilInterrupted, withDatabase } from '../with-database.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('back up the whole site to one compressed file, even while the site runs')
    .argument('<file>', 'path of the file, which appears only when it is complete')
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

A backup contains visitors' session ids, so only the file's owner can read it.
With BACKUP_DIR set, the site also makes backups on a schedule.`,
    )
    .action(async (file: string, { force = false, json = false }: { force?: boolean; json?: boolean }) => {
      // On standard output, an interrupted backup could be mistaken for a complete one.
      if (file === '-') throw new UsageError('A backup cannot be written to standard output. Name a file.');
      const path = resolve(file);
      await prepareOutputPath(path, { force });
      const { header, bytes } = await untilInterrupted((signal) => backUp(path, force, signal));
      if (json) return printJson({ file: path, bytes, ...header });
      // The number of pictures reveals a wrong DATA_DIR, in which it is 0.
      print(`Backed up ${describeBackup(header)}, with ${rowsIn(header, PICTURES, 'picture')}.`);
      print(`${path}  ${formatCount(bytes)} bytes`);
    });
}

/** Describes the content of a backup: `67 products, 145 upvotes and 24 comments as of 2026-11-20T22:31:33Z`. */
export function describeBackup(header: BackupHeader): string {
  const upvotes = rowsIn(header, 'upvotes', 'upvote');
  const comments = rowsIn(header, 'comments', 'comment');
  return `${rowsIn(header, 'products', 'product')}, ${upvotes} and ${comments} as of ${header.createdAt}`;
}

function rowsIn({ tables }: BackupHeader, table: string, noun: string): string {
  return formatQuantity(tables.find(({ name }) => name === table)?.rows ?? 0, noun);
}

function backUp(path: string, force: boolean, signal: AbortSignal) {
  return withDatabase(
    async (connection) => {
      const progress = startProgress('Backing up');
      const written = await connection
        .withoutStatementTimeout((database) =>
          writeBackup(database, path, {
            groundswell: PACKAGE_VERSION,
            pictureFolder: pictureFolder(readSettings(process.env).dataDir),
            onDamagedPicture: warnOfDamagedPicture,
            onProgress: progress.at,
            replace: force,
            signal,
          }),
        )
        .catch((error: unknown) => {
          throw asOutputError(error, path);
        })
        .finally(progress.end);
      const details = { createdAt: written.header.createdAt, rows: rowsOf(written.header), bytes: written.bytes };
      // The backup is complete, so the command succeeds even if the entry cannot be written.
      await recordAudit(connection.database, { action: 'backup', target: basename(path), details }).catch(
        (error: Error) => printError(`Warning: this backup is not in the audit log: ${error.message}`),
      );
      return written;
    },
    { signal },
  );
}

function warnOfDamagedPicture(name: string): void {
  printError(`Warning: the picture ${name} is damaged and was left out. Upload it again.`);
}

/**
 * Checks the path of an output file before a database is started, and deletes what killed commands have left there.
 * @throws UsageError if the path cannot be used.
 */
export async function prepareOutputPath(path: string, { force }: { force: boolean }): Promise<void> {
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new UsageError(`There is no folder ${dirname(path)}. Create it first.`);
  const present = await stat(path).catch(() => undefined);
  if (present && !present.isFile()) throw new UsageError(`${path} is not a file. Choose another name.`);
  if (present && !force) throw fileExists(path);
  // Errors are ignored, because the folder may be writable but not readable, or another command may delete a file, too.
  await deletePartialFiles(path).catch(() => {});
}

function fileExists(path: string): UsageError {
  return new UsageError(`${path} exists. Choose another name, or add --force to replace it.`);
}

/**
 * Returns a `UsageError` if the folder is not writable, or if another program has created the file since
 * `prepareOutputPath`. Returns other errors unchanged, such as those of pictures that this user may not read.
 */
export function asOutputError(error: unknown, path: string): unknown {
  const code = systemCode(error) ?? '';
  if (code === 'EEXIST') return fileExists(path);
  const isOfOutput = String((error as NodeJS.ErrnoException).path).startsWith(path);
  if (!isOfOutput || !['EACCES', 'EPERM', 'EROFS'].includes(code)) return error;
  return new UsageError(
    `Cannot write ${basename(path)} into ${dirname(path)} (${code}). Choose another folder, or make this one writable.`,
  );
}

interface RestoreFlags {
  replace?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('restore the site from a backup, even while the site runs')
    .argument('<file>', 'a backup, written by `groundswell backup` or by the site')
    .option('--replace', 'discard everything on the site; without this option, the site must be empty')
    .option('--yes', 'do not ask for confirmation')
    .addOption(jsonOption('{ "createdAt": …, "restored": { "products": 67, "upvotes": 145, … } }'))
    .addHelpText(
      'after',
      `
Examples:
  groundswell restore site.backup                  into an empty site
  groundswell restore --replace site.backup        asks for confirmation
  groundswell restore --replace --yes site.backup  for a script

The whole file is checked first. Either all of it is restored, or nothing.`,
    )
    .action(async (file: string, { replace = false, yes = false, json = false }: RestoreFlags) => {
      const path = resolve(file);
      if (replace && !yes) requireTerminal();
      await requireBackupFile(path);
      const checking = startProgress('Checking the backup');
      const found = await verifyBackup(path, checking.at).finally(checking.end);
      warnOfMissingTables(found.tables.map(({ name }) => name));
      const question = `Discard everything on this site and restore ${describeBackup(found)}?`;
      if (replace && !yes && !(await confirm(question))) return printError('Nothing was changed.');
      const header = await untilInterrupted((signal) => restore(path, replace, rowsOf(found), signal));
      const tables = Object.fromEntries(header.tables.map(({ name, rows }) => [name, rows]));
      if (json) return printJson({ createdAt: header.createdAt, restored: tables });
      print(`Restored ${describeBackup(header)}.`);
    });
}

/** Warns about tables that the backup lacks, for example because an older version of Groundswell wrote it. */
function warnOfMissingTables(names: readonly string[]): void {
  const missing = SITE_TABLES.filter((name) => !names.includes(name));
  if (missing.length === 0) return;
  printError(
    `Warning: the backup lacks ${missing.join(', ')}. After the restore, ${missing.length === 1 ? 'this table' : 'these tables'} will be empty.`,
  );
}

const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * Checks that the file is neither a pipe nor a product file, such as an export. A missing file is reported later, when
 * the backup is verified. @throws UsageError
 */
async function requireBackupFile(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFIFO() || stats?.isCharacterDevice())
    throw new UsageError(`${path} can be read only once, but a backup is checked first. Save it to a file.`);
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
    `${path} is not a backup. If it contains products, add them to the site with \`groundswell import ${basename(path)}\`; \`groundswell restore\` accepts only backups.`,
  );
}

function restore(path: string, replace: boolean, allRows: number, signal: AbortSignal) {
  return withDatabase(
    async (connection) => {
      const migrations = (await readMigrations(PACKAGE_FOLDERS.migrations)).map(({ name }) => name);
      const progress = startProgress('Restoring');
      const onProgress = (rows: number) => {
        signal.throwIfAborted();
        progress.at(rows, allRows);
      };
      return await connection
        .withoutStatementTimeout((database) =>
          restoreBackup(database, path, {
            replace,
            migrations,
            pictureFolder: pictureFolder(readSettings(process.env).dataDir),
            onDamagedPicture: warnOfDamagedPicture,
            target: basename(path),
            onProgress,
          }),
        )
        .finally(progress.end);
    },
    { signal, create: true },
  );
}
