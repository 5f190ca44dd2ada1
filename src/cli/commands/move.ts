import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { rowsOf } from '../../core/backups/read-backup.ts';
import { requireEmpty, restoreBackup, SiteNotEmptyError } from '../../core/backups/restore-backup.ts';
import { writeBackup } from '../../core/backups/write-backup.ts';
import { SELECT_CHANGES } from '../../core/changes/change-feed.ts';
import { CHANNEL } from '../../core/changes/change-publisher.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import { ConnectError, type Connection, connect } from '../../core/database/connect.ts';
import type { Database } from '../../core/database/database.ts';
import { selectListenStatement } from '../../core/database/listen.ts';
import { readMigrations } from '../../core/database/migrate.ts';
import { PACKAGE_FOLDERS, PACKAGE_VERSION } from '../../settings/package-root.ts';
import { readSettings, type Settings, SettingsError } from '../../settings/settings.ts';
import { jsonOption, UsageError } from '../arguments.ts';
import { print, printJson, startProgress } from '../terminal/output.ts';
import { createCommandLog, untilInterrupted } from '../with-database.ts';
import { describeBackup } from './backup.ts';

/**
 * The environment variable for the target's URL. It is safer than `--to`, because other users can read command lines.
 */
const TARGET_VARIABLE = 'TARGET_DATABASE_URL';

export function moveCommand(): Command {
  return new Command('move')
    .description('copy the site from its current database to an empty one on a server')
    .option('--to <url>', `URL of the target database; by default, the value of ${TARGET_VARIABLE}`)
    .addOption(jsonOption('{ "to": "db.internal/groundswell", "createdAt": …, "tables": […] }'))
    .addHelpText(
      'after',
      `
Stop the site first. The current database keeps the site, but its schema is
updated to this version. The target must be empty.

Examples:
  export TARGET_DATABASE_URL=postgres://groundswell:secret@db/groundswell
  groundswell move
  groundswell move --to postgres://groundswell@localhost/groundswell`,
    )
    .action(async ({ to, json = false }: { to?: string; json?: boolean }) => {
      const settings = readSettings(process.env);
      const target = readTarget(to);
      const { header, location } = await untilInterrupted((signal) => move(settings, target, signal));
      if (json) return printJson({ to: location, ...header });
      print(`Moved ${describeBackup(header)} to ${location}.`);
      print("Set DATABASE_URL to the target's URL, then start the site. The old database still contains the site.");
    });
}

/**
 * Selects the connections of a running site. Its processes listen for changes in this schema, unless a pooler prevents
 * that, and read the changes with `$1` five times a second. `$1` names no schema, so a read counts only if no other
 * schema has a site. The read must begin after `$2`, because a pooler's connection shows its last statement even after
 * the site has stopped.
 */
const SELECT_RUNNING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND (query = (${selectListenStatement(CHANNEL)})
    OR left(query, 100) = left($1::text, 100) AND query_start > $2
      AND (SELECT count(*) FROM pg_class WHERE relname = 'changes' AND relkind IN ('r', 'p')) = 1)`;

/** How long to look for a running site. In this time, each process of a site reads the changes five times. */
const WATCH_MS = 1_000;
/** The interval is short, because on a pooler's connection, another statement soon replaces the read of the changes. */
const WATCH_INTERVAL_MS = 2;

/** Reads the target's URL and validates it in the same way as DATABASE_URL. */
function readTarget(to: string | undefined): string {
  const text = to ?? process.env[TARGET_VARIABLE] ?? '';
  try {
    const { databaseUrl } = readSettings({ DATABASE_URL: text });
    if (databaseUrl !== undefined) return databaseUrl;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const name = to === undefined ? TARGET_VARIABLE : '--to';
    throw new UsageError(error.message.replace(/^DATABASE_URL/, name));
  }
  throw new UsageError(`No target is given. Set ${TARGET_VARIABLE}, or add --to.`);
}

async function move(settings: Settings, targetUrl: string, signal: AbortSignal) {
  const { databaseUrl, dataDir } = settings;
  const log = createCommandLog(settings, signal);
  const target = await connect({ databaseUrl: targetUrl, dataDir, mode: 'share', log, signal }).catch(
    (error: unknown) => {
      if (!(error instanceof ConnectError)) throw error;
      throw new ConnectError(error.message.replace(/^DATABASE_URL: /, 'the target: '));
    },
  );
  try {
    await target.migrate(PACKAGE_FOLDERS.migrations);
    // The restore would also refuse a target with data, but only after the source has been copied to a file.
    await requireEmpty(target.database).catch((error: unknown) => {
      if (!(error instanceof SiteNotEmptyError)) throw error;
      throw new UsageError(`The target is not empty: it has ${error.content}. Choose an empty database.`);
    });
    // An embedded source cannot be opened in the mode `own` while the site runs, and the site cannot start during the
    // copy. Thus no write is lost.
    const source = await connect({ databaseUrl, dataDir, mode: 'own', create: false, log, signal });
    try {
      await source.migrate(PACKAGE_FOLDERS.migrations);
      await requireStopped(source.database);
      if (source.embedded) await deleteLeftovers(dataDir);
      return {
        header: await copy(source, target, source.embedded ? dataDir : tmpdir(), signal),
        location: target.location,
      };
    } finally {
      await source.close();
    }
  } finally {
    await target.close();
  }
}

/**
 * Checks that no running site uses the database, because its later writes would not be copied.
 * @throws UsageError if one is running.
 */
async function requireStopped(database: Database): Promise<void> {
  const begun = await readDatabaseTime(database);
  for (const from = performance.now(); performance.now() - from < WATCH_MS; ) {
    const running = await database.query(SELECT_RUNNING, [SELECT_CHANGES, begun]);
    if (running.length > 0) throw new UsageError('A site is running with the current database. Stop it first.');
    await delay(WATCH_INTERVAL_MS);
  }
}

const TEMPORARY_PREFIX = 'move-';
/** Matches the names that `mkdtemp` creates. */
const TEMPORARY_FOLDER = new RegExp(`^${TEMPORARY_PREFIX}[A-Za-z0-9]{6}$`);

/** Deletes the copies of earlier moves that were killed. Call it only while this process owns the data folder. */
async function deleteLeftovers(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (TEMPORARY_FOLDER.test(name)) await rm(join(dataDir, name), { recursive: true });
}

/** Copies the site through a temporary backup file, in a folder that only this user can access. */
async function copy(source: Connection, target: Connection, folder: string, signal: AbortSignal) {
  const temporaryFolder = await mkdtemp(join(folder, TEMPORARY_PREFIX));
  const path = join(temporaryFolder, 'site.backup');
  const reading = startProgress('Reading');
  const writing = startProgress('Writing');
  try {
    const migrations = (await readMigrations(PACKAGE_FOLDERS.migrations)).map(({ name }) => name);
    const { header } = await source.withoutStatementTimeout((database) =>
      writeBackup(database, path, { groundswell: PACKAGE_VERSION, onProgress: reading.at, signal }),
    );
    reading.end();
    const onProgress = (rows: number) => {
      signal.throwIfAborted();
      writing.at(rows, rowsOf(header));
    };
    return await target.withoutStatementTimeout((database) =>
      restoreBackup(database, path, {
        replace: false,
        migrations,
        target: source.location,
        onProgress,
      }),
    );
  } finally {
    reading.end();
    writing.end();
    await rm(temporaryFolder, { recursive: true, force: true });
  }
}
