import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { silentLog } from './silent-log.ts';

/** Runs work on one connection to a server, without a statement timeout. Closes the connection if `signal` aborts. */
export async function withServer<Result>(
  url: string,
  work: (sql: Database) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const server = openDatabase({
    url,
    log: silentLog,
    maxConnections: 1,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 0,
    signal,
  });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

/** Returns the URL of another database on a server. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
