import { type Connection, connect } from '../core/database/connect.ts';
import { createLog } from '../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { readSettings, type Settings } from '../settings/settings.ts';

/**
 * Runs a command's work on the site's database, with its schema up to date, whether or not the site is running.
 * The log goes to standard error, so standard output holds only the result.
 */
export async function withDatabase<Result>(
  work: (connection: Connection, applied: readonly string[], settings: Settings) => Promise<Result>,
): Promise<Result> {
  const settings = readSettings(process.env);
  const log = createLog(process.env.LOG_LEVEL ? settings.logLevel : 'warn', process.stderr);
  const connection = await connect({
    databaseUrl: settings.databaseUrl,
    dataDir: settings.dataDir,
    mode: 'share',
    log,
  });
  try {
    return await work(connection, await connection.migrate(PACKAGE_FOLDERS.migrations), settings);
  } finally {
    await connection.close();
  }
}

/**
 * Runs work that cleans up after itself. Ctrl-C or SIGTERM aborts its signal; the promise settles once the work has
 * ended.
 */
export async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('Interrupted. Nothing was changed.'));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, abort);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    for (const name of signals) process.off(name, abort);
  }
}
