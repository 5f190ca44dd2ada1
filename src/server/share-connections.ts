import { join } from 'node:path';
import type { Logger } from 'pino';
import { readConnectionLimit } from '../core/database/connect.ts';
import type { Sql } from '../core/database/database.ts';
import { maxConnectionsNeeded, poolSizePerProcess } from '../settings/process-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { StartError } from './start-error.ts';

/**
 * Returns the pool size of each process that serves (see `poolSizePerProcess`). A database at DATABASE_URL may be
 * behind a pooler that accepts more connections, so exceeding the database's limit only causes a warning.
 * @throws StartError if the embedded database allows too few connections.
 */
export async function shareConnections(
  sql: Sql,
  { processes, databaseUrl, dataDir }: Pick<Settings, 'processes' | 'databaseUrl' | 'dataDir'>,
  log: Pick<Logger, 'warn'>,
): Promise<number> {
  const limit = await readConnectionLimit(sql);
  const each = poolSizePerProcess(processes, limit.connections);
  const needed = maxConnectionsNeeded(processes, limit.connections);
  if (needed <= limit.connections) return each;
  const site = processes === 1 ? 'DATABASE_URL: 1 process opens' : `WEB_CONCURRENCY: ${processes} processes open`;
  const message = `${site} up to ${needed} connections, but only ${limit.connections} are allowed (limited by ${limit.setBy})`;
  if (databaseUrl === undefined) {
    const file = join(dataDir, 'postgres', 'postgresql.conf');
    throw new StartError(
      `${message}. Reduce WEB_CONCURRENCY, or set max_connections in ${file} to at least ${needed + 20}.`,
    );
  }
  const advice = processes === 1 ? 'Raise the limit' : 'Reduce WEB_CONCURRENCY or raise the limit';
  log.warn(`${message}. ${advice}, unless a connection pooler accepts more.`);
  return each;
}
