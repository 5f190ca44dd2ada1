import type { Sql } from './database.ts';

/** How many connections a role may open, and what sets that limit. */
export interface ConnectionLimit {
  connections: number;
  setBy: 'max_connections' | 'the role' | 'the database';
}

// Settings that this server does not have are 0; -1 means no limit. `reserved_connections` exists since PostgreSQL
// 16.
const SELECT_LIMITS = `SELECT current_setting('max_connections')::integer
    - coalesce(current_setting('superuser_reserved_connections', true)::integer, 0)
    - coalesce(current_setting('reserved_connections', true)::integer, 0) AS server,
  (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role,
  (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database`;

/**
 * The limit of this connection's role, for all its sites and commands together. A pooler's own limit cannot be read.
 * @throws CoreError `unavailable`.
 */
export async function readConnectionLimit(sql: Sql): Promise<ConnectionLimit> {
  const [row] = await sql.query<{ server: number; role: number | null; database: number | null }>(SELECT_LIMITS);
  const unlimited = Number.POSITIVE_INFINITY;
  const known = (limit: number | null | undefined) => (limit == null || limit < 0 ? unlimited : limit);
  const limits: ConnectionLimit[] = [
    { connections: known(row?.server), setBy: 'max_connections' },
    { connections: known(row?.role), setBy: 'the role' },
    { connections: known(row?.database), setBy: 'the database' },
  ];
  return limits.reduce((least, limit) => (limit.connections < least.connections ? limit : least));
}
