import { constants } from 'node:os';
import { type Connection, connect } from '../core/database/connect.ts';
import type { Log } from '../core/runtime.ts';
import { createLog } from '../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { readSettings, type Settings } from '../settings/settings.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Thrown after a signal, once the database is closed. The process must exit explicitly, because the work may not have
 * ended, or output may be waiting for a reader that has stopped.
 */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  /** The exit code that shells report for a process ended by the signal: 128 plus the number of the signal. */
  readonly exitCode: number;

  constructor(signal: (typeof SIGNALS)[number]) {
    super('Interrupted.');
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Creates the log of a command. Its level is `warn` if LOG_LEVEL is unset or blank. When `signal` is aborted, the log
 * becomes silent, because cancelled statements would be logged as an outage of the database.
 */
export function createCommandLog({ logLevel }: Settings, signal: AbortSignal) {
  const log = createLog(process.env.LOG_LEVEL?.trim() ? logLevel : 'warn', process.stderr);
  signal.addEventListener('abort', () => (log.level = 'silent'), { once: true });
  return log;
}

interface Options {
  /**
   * The signal from `untilInterrupted`. When it is aborted, statements in `withoutStatementTimeout` fail immediately,
   * and `withDatabase` settles when `work` has ended. If unset, `withDatabase` rejects after Ctrl-C without waiting for
   * `work`.
   */
  signal?: AbortSignal;
  /**
   * Whether to create a missing embedded database. If false, a missing one is an error, because DATA_DIR may be
   * incorrect.
   */
  create?: boolean;
}

/**
 * Connects to the site's database, migrates it and runs `work`, whether or not the site is running. Logs go to standard
 * error, so standard output contains only the result. Ctrl-C, SIGTERM and SIGHUP cancel the work and close the
 * connection, because an embedded database would otherwise outlive the command.
 * @throws InterruptedError after a signal; SettingsError, EmbeddedDatabaseError or ConnectError.
 */
export async function withDatabase<Result>(
  work: (connection: Connection, applied: readonly string[], log: Log) => Promise<Result>,
  { signal, create = false }: Options = {},
): Promise<Result> {
  if (signal === undefined)
    return untilInterrupted((own) =>
      withDatabase((...given) => unlessAborted(work(...given), own), { signal: own, create }),
    );
  const settings = readSettings(process.env);
  const log = createCommandLog(settings, signal);
  const { databaseUrl, dataDir } = settings;
  const connection = await connect({ databaseUrl, dataDir, mode: 'share', create, log, signal });
  try {
    signal.throwIfAborted();
    const applied = await connection.migrate(PACKAGE_FOLDERS.migrations);
    signal.throwIfAborted();
    return await work(connection, applied, log);
  } finally {
    await connection.close({ cancel: signal.aborted });
  }
}

/** Resolves with the result of `work`, or rejects with the reason of the signal as soon as the signal is aborted. */
function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/**
 * Runs `work`, which must clean up when its signal is aborted by Ctrl-C, SIGTERM or SIGHUP. The promise settles when
 * the work has ended.
 */
export async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const abort = (name: (typeof SIGNALS)[number]) => controller.abort(new InterruptedError(name));
  for (const name of SIGNALS) process.on(name, abort);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    for (const name of SIGNALS) process.off(name, abort);
  }
}
