import { type Connection, connect } from '../core/database/connect.ts';
import { createLog } from '../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { readSettings, type Settings } from '../settings/settings.ts';

/**
 * Connects to the site's database, migrates it and runs `work`, whether or not the site is running. Logs go to standard
 * error, so standard output contains only the result.
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
 * Runs `work`, which must clean up when its signal is aborted by Ctrl-C, SIGTERM or SIGHUP. The promise settles when
 * the work has ended.
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
