import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Finding } from '../../contract/console/records.ts';
import * as paths from '../../contract/paths.ts';
import { formatCount, withPeriod } from '../../contract/text.ts';
import { newestBackup } from '../../core/backups/backup-file.ts';
import { CoreError } from '../../core/core-error.ts';
import { type Connection, connect, reasonOf } from '../../core/database/connect.ts';
import { EmbeddedDatabaseError } from '../../core/database/embedded/embedded-database-error.ts';
import {
  checkBackups,
  checkDataFolder,
  checkDisk,
  MAX_TRIAL_RESTORE_ROWS,
  NO_BACKUPS,
} from '../../core/doctor/check-storage.ts';
import { failure, ok, warning } from '../../core/doctor/finding.ts';
import { runDatabaseChecks } from '../../core/doctor/run-database-checks.ts';
import { systemCode } from '../../core/file-system.ts';
import { readBrand } from '../../settings/brand.ts';
import { createLog } from '../../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import { maxConnectionsNeeded } from '../../settings/process-settings.ts';
import { isLoopback } from '../../settings/read-value.ts';
import { readSettings, type Settings, SettingsError } from '../../settings/settings.ts';
import { jsonOption } from '../arguments.ts';
import { localAddress } from '../site-address.ts';
import { printJson } from '../terminal/output.ts';
import { printWithLead } from '../terminal/table.ts';
import { untilInterrupted } from '../with-database.ts';

const EXIT_UNHEALTHY = 1;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check settings, database, disk, clock, proxy and backups; exit code 1 if a check fails')
    .addOption(
      jsonOption(
        '{ "healthy": false, "findings": [{ "check": "counts", "status": "failed", "message": …, "advice": … }] }',
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  groundswell doctor  one line per check: ✓ passed, ! warning, ✗ failed
  groundswell doctor --json | jq '.findings[] | select(.status != "ok")'

The command changes nothing. As a trial, it restores the newest backup in
BACKUP_DIR into a temporary schema, if the backup has at most ${formatCount(MAX_TRIAL_RESTORE_ROWS)} rows, and
rolls the restore back.`,
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const findings: Finding[] = [];
      await untilInterrupted(async (signal) => {
        for await (const finding of examine(signal)) {
          signal.throwIfAborted();
          findings.push(finding);
          if (!json) printFinding(finding);
        }
      });
      const healthy = findings.every(({ status }) => status !== 'failed');
      if (json) printJson({ healthy, findings });
      if (!healthy) process.exitCode = EXIT_UNHEALTHY;
    });
}

async function* examine(signal: AbortSignal): AsyncGenerator<Finding> {
  let settings: Settings;
  try {
    settings = readSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const text of error.errors) yield failure('settings', text, 'See docs/configuration.md.');
    return;
  }
  yield ok('settings', 'all are valid');
  const brand = await checkBrand(settings);
  if (brand) yield brand;
  yield* examineDatabase(settings, signal);
  yield await checkSite(settings);
  yield await checkSiteUrl(settings);
  yield checkProxyTrust(settings);
}

/** Checks the logo and the other settings of the brand. @returns undefined if none of them is set. */
export async function checkBrand(settings: Settings): Promise<Finding | undefined> {
  const { siteTagline, siteLogo, accent, siteArticles } = settings;
  const parts = [
    siteTagline && 'SITE_TAGLINE',
    siteLogo && `SITE_LOGO (${siteLogo})`,
    accent && `SITE_ACCENT (${accent.light.sun}, in the dark theme ${accent.dark.sun})`,
    siteArticles && `SITE_ARTICLES (${siteArticles})`,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  try {
    await readBrand(settings);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return failure(
      'brand',
      error.errors.join('; '),
      'Correct the file or the setting; otherwise, the site does not start.',
    );
  }
  return ok('brand', `set by ${parts.join(', ')}`);
}

async function* examineDatabase(settings: Settings, signal: AbortSignal): AsyncGenerator<Finding> {
  const { databaseUrl, dataDir, backups } = settings;
  const clusterDir = join(dataDir, 'postgres');
  const hasCluster = databaseUrl === undefined && (await exists(clusterDir));
  // `postgres` may be a link to a missing folder. In that case, only `postgres.owner` shows that there was a database.
  const hasDatabase = databaseUrl !== undefined || hasCluster || (await exists(join(dataDir, 'postgres.owner')));
  if (hasCluster) yield await checkDataFolder(clusterDir);
  // The folder `postgres` may be a link to another disk. With DATABASE_URL, DATA_DIR exists only if the site has
  // pictures.
  if (hasDatabase && (await exists(dataDir)))
    yield await checkDisk('DATA_DIR', dataDir, { measured: hasCluster ? clusterDir : dataDir });
  if (backups && (await exists(backups.folder))) yield await checkDisk('BACKUP_DIR', backups.folder);
  if (!hasDatabase) return yield* examineWithoutDatabase(settings);
  let connection: Connection | undefined;
  let isReadable = false;
  try {
    try {
      // The log is silent, because every problem becomes a finding.
      const log = createLog('silent', process.stderr);
      connection = await connect({ databaseUrl, dataDir, mode: 'share', create: false, log, signal });
      yield* runDatabaseChecks(connection, {
        connections: (limit) => maxConnectionsNeeded(settings.processes, limit),
        migrations: PACKAGE_FOLDERS.migrations,
        settings,
        now: new Date(),
        readsPictures: true,
      });
      isReadable = true;
    } catch (error) {
      if (error instanceof EmbeddedDatabaseError && error.code === 'no_database')
        return yield* examineWithoutDatabase(settings);
      // The message of a `CoreError` is for visitors, and does not say why the database is unavailable.
      const reason = error instanceof CoreError ? reasonOf(error) : error;
      yield failure(
        'database',
        reason instanceof Error ? reason.message : String(reason),
        'Correct this first; the remaining checks of the database were skipped.',
      );
    }
    yield await examineBackups(isReadable ? connection : undefined, settings);
  } finally {
    await connection?.close();
  }
}

/** Reports that there is no database yet, and checks the backups, if any, because one of them may be restored. */
async function* examineWithoutDatabase(settings: Settings): AsyncGenerator<Finding> {
  yield warning(
    'database',
    `${settings.dataDir} contains no database yet`,
    'Start the site to create it, or correct DATA_DIR.',
  );
  const { folder } = settings.backups ?? {};
  if (folder !== undefined && (await newestBackup(folder).catch(() => undefined)))
    yield await examineBackups(undefined, settings);
}

async function examineBackups(connection: Connection | undefined, { backups }: Settings): Promise<Finding> {
  if (!backups) return NO_BACKUPS;
  const wanted = { ...backups, migrations: PACKAGE_FOLDERS.migrations };
  if (!connection) return checkBackups(undefined, wanted);
  return connection.withoutStatementTimeout((database) => checkBackups(database, wanted));
}

const SIGNS = { ok: '✓', warning: '!', failed: '✗' } as const;
const STYLES = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

function printFinding({ check, status, message, advice }: Finding): void {
  const text = withPeriod(message) + (advice === undefined ? '' : ` ${advice}`);
  printWithLead([STYLES[status], `${SIGNS[status]} `], `${check}: ${text}`);
}

/** Returns whether the path exists, or may exist in a folder that this user may not enter. */
function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
}

/** Long enough for a busy site, which would otherwise be reported as not running. */
const FETCH_TIMEOUT_MS = 10_000;

/** Checks that SITE_URL, the base of absolute links, is set, uses HTTPS and is reachable. */
export async function checkSiteUrl({ siteUrl }: Settings): Promise<Finding> {
  const check = 'SITE_URL';
  if (siteUrl === undefined) {
    return warning(
      check,
      'not set: absolute links, such as those in feeds and link previews, use the address that the server listens on',
      'Set it to the origin that visitors see, such as https://launches.example.',
    );
  }
  const { protocol, hostname } = new URL(siteUrl);
  if (protocol === 'http:' && !isLoopback(hostname))
    return warning(
      check,
      `${siteUrl} does not use HTTPS`,
      'Put a proxy with TLS in front of the site, and set SITE_URL to its https URL.',
    );
  const status = await statusOf(`${siteUrl}${paths.healthz}`);
  if (status !== '200')
    return warning(
      check,
      `a request to ${siteUrl}${paths.healthz} failed (${status})`,
      'Check the DNS name, the proxy and its certificate, unless the site was stopped on purpose.',
    );
  return ok(check, `${siteUrl} is reachable`);
}

/**
 * Checks whether the site runs on this machine. A stopped site is not a failure, because commands do not need a running
 * site.
 */
export async function checkSite(settings: Settings, timeoutMs = FETCH_TIMEOUT_MS): Promise<Finding> {
  const address = localAddress(settings);
  const status = await statusOf(`${address}${paths.readyz}`, timeoutMs);
  if (status === '200') return ok('site', `running at ${address}`);
  if (status === '503')
    return failure(
      'site',
      `running at ${address}, but it is stopping or cannot use its database`,
      'Check the database and the log of the site.',
    );
  if (status === NO_RESPONSE)
    return failure('site', `running at ${address}, but it does not respond`, 'Check its log, and restart it.');
  return ok('site', `not running at ${address}`);
}

/** Checks TRUST_PROXY. If it is unset behind a proxy, all visitors seem to have the address of the proxy. */
export function checkProxyTrust({ siteUrl, trustProxy, host, launches }: Settings): Finding {
  const check = 'TRUST_PROXY';
  const isBehindProxy = siteUrl?.startsWith('https:') ?? false;
  if (isBehindProxy && trustProxy === undefined) {
    return failure(
      check,
      `not set, although a site with https runs behind a proxy: all visitors share the rate limits of one network, and only ${launches.votesPerNetwork} of their votes for a launch count`,
      'Set it to the address of the proxy, such as loopback for one on this machine.',
    );
  }
  if (trustProxy && !isLoopback(host) && trustProxy('127.0.0.1')) {
    return warning(
      check,
      `a proxy is trusted, but HOST=${host} lets visitors bypass it`,
      'Set HOST=127.0.0.1 if the proxy is on this machine, or block access from other addresses with a firewall.',
    );
  }
  return ok(check, trustProxy ? 'set' : 'not set, and not needed');
}

const NO_RESPONSE = 'no response';

/** Returns the status of the response, `NO_RESPONSE` after the timeout, or the code or message of another error. */
async function statusOf(address: string, timeoutMs = FETCH_TIMEOUT_MS): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return NO_RESPONSE;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return systemCode(cause) ?? String(cause);
  }
}
