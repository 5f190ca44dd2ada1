import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { type Connection, connect } from '../../core/database/connect.ts';
import { readMigrations } from '../../core/database/migrate.ts';
import { checkBackups } from '../../core/doctor/check-backups.ts';
import { checkSomeCounts } from '../../core/doctor/check-counts.ts';
import {
  checkClock,
  checkConnections,
  checkIndexes,
  checkMigrations,
  checkSearch,
  checkServer,
} from '../../core/doctor/check-database.ts';
import { checkDataFolder, checkDisk } from '../../core/doctor/check-disk.ts';
import { type Finding, fault, ok, warning } from '../../core/doctor/finding.ts';
import { createLog } from '../../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { connectionsNeeded, connectionsOf } from '../../settings/process-settings.ts';
import { readSettings, type Settings, SettingsError } from '../../settings/settings.ts';
import { checkProxyTrust, checkSite, checkSiteUrl } from '../doctor-settings.ts';
import { oneLine } from '../one-line.ts';

const UNHEALTHY = 1;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('look at settings, database, disk, clock, proxy and backups; exit code 1 when something is wrong')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Examples:
  groundswell doctor                                      a line each: ✓ well, ! worth a look, ✗ wrong, and what to do
  groundswell doctor --json | jq '.findings[] | select(.status != "ok")'

It changes nothing. The newest backup of BACKUP_DIR is restored for trial, into a schema that is rolled back.`,
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings: Finding[] = [];
      for await (const finding of examine()) {
        findings.push(finding);
        if (!json) console.log(lineOf(finding));
      }
      const healthy = findings.every(({ status }) => status !== 'fault');
      if (json) console.log(JSON.stringify({ healthy, findings }));
      if (!healthy) process.exitCode = UNHEALTHY;
    });
}

async function* examine(): AsyncGenerator<Finding> {
  let settings: Settings;
  try {
    settings = readSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const text of error.faults) yield fault('settings', text, 'See docs/configuration.md.');
    return;
  }
  yield ok('settings', 'all can be used');
  yield* examineDatabase(settings);
  yield await checkSite(settings);
  yield await checkSiteUrl(settings);
  yield checkProxyTrust(settings);
}

async function* examineDatabase(settings: Settings): AsyncGenerator<Finding> {
  const { databaseUrl, dataDir, backups } = settings;
  const clusterDir = join(dataDir, 'postgres');
  // Where the database lies elsewhere, this still holds how its processes find each other.
  const isMade =
    databaseUrl !== undefined || (await exists(clusterDir)) || (await exists(join(dataDir, 'postgres.owner')));
  if (databaseUrl === undefined && (await exists(clusterDir))) yield await checkDataFolder(clusterDir);
  if (databaseUrl === undefined && isMade) yield await checkDisk('DATA_DIR', dataDir);
  if (backups && (await exists(backups.folder))) yield await checkDisk('BACKUP_DIR', backups.folder);
  if (!isMade) {
    yield warning(
      'database',
      `there is none in ${dataDir} yet`,
      'Start the site, which makes it, or check that DATA_DIR is right.',
    );
    return;
  }
  let connection: Connection | undefined;
  try {
    // To a log that nobody reads: what is wrong is a finding.
    connection = await connect({ databaseUrl, dataDir, mode: 'share', log: createLog('silent', process.stderr) });
    yield* examineConnection(connection, settings);
  } catch (error) {
    yield fault(
      'database',
      error instanceof Error ? error.message : String(error),
      'What is asked of it above has to be done first.',
    );
  }
  try {
    yield await examineBackups(connection, settings);
  } finally {
    await connection?.close();
  }
}

async function* examineConnection(
  { database, location }: Connection,
  { processes }: Settings,
): AsyncGenerator<Finding> {
  yield await checkServer(database, location);
  yield await checkConnections(database, connectionsNeeded(processes, connectionsOf(processes)));
  const migrations = await checkMigrations(
    database,
    (await readMigrations(PACKAGE_FOLDERS.migrations)).map(({ name }) => name),
  );
  yield migrations;
  yield await checkClock(database);
  // What is asked below stands on a schema of this version.
  if (migrations.status !== 'ok') return;
  yield await checkSearch(database);
  yield await checkIndexes(database);
  yield await checkSomeCounts(database);
}

async function examineBackups(connection: Connection | undefined, { backups }: Settings): Promise<Finding> {
  if (!backups) {
    return warning(
      'backups',
      'the site makes none by itself',
      'Set BACKUP_DIR to a folder on another disk, or run groundswell backup by a timer.',
    );
  }
  const wanted = { ...backups, migrations: PACKAGE_FOLDERS.migrations };
  if (!connection) return checkBackups(undefined, wanted);
  return connection.withoutTimeLimit((database) => checkBackups(database, wanted));
}

const SIGNS = { ok: '✓', warning: '!', fault: '✗' } as const;
const COLOURS = { ok: '\x1b[32m', warning: '\x1b[33m', fault: '\x1b[31m' } as const;

function lineOf({ check, status, message, advice }: Finding): string {
  const sign = process.stdout.isTTY ? `${COLOURS[status]}${SIGNS[status]}\x1b[0m` : SIGNS[status];
  return `${sign} ${check}: ${oneLine(message.replace(/\.$/, ''))}.${advice === undefined ? '' : ` ${oneLine(advice)}`}`;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
