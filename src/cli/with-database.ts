import { type Connection, connect } from '../core/database/connect.ts';
import { createLog } from '../settings/logging.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { readSettings } from '../settings/settings.ts';

/**
 * Runs a command's work on the site's database, with its schema up to date, whether or not the site is running.
 * The log goes to standard error, so that standard output holds the answer alone.
 */
export async function withDatabase<Result>(
  work: (connection: Connection, applied: readonly string[]) => Promise<Result>,
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
    return await work(connection, await connection.migrate(PACKAGE_FOLDERS.migrations));
  } finally {
    await connection.close();
  }
}
