import { Socket } from 'node:net';
import pg from 'pg';
import type { Log } from '../runtime.ts';
import { isConnectionFailure } from './database-errors.ts';
import { KEEP_ALIVE } from './listen.ts';

/**
 * A client that can discard a statement that the server has not received. If its socket were only closed, the kernel
 * would retransmit the statement until the network is back. The server would then execute it minutes after its caller
 * got an error, and might overwrite a later write.
 */
class AbortableClient extends pg.Client {
  /** The TCP connection. With TLS, this is the connection below the TLS socket. */
  private readonly socket: Socket;

  // biome-ignore lint/correctness/noUnreachableSuper: the second call runs only if the first one throws
  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    const stream = () => socket;
    try {
      super({ ...config, stream });
    } catch (error) {
      // The driver could not read a file that the URL names, for example while `sslrootcert` is being replaced. The
      // pool does not catch this error, so the error must come from connecting.
      super({ stream });
      socket.connect = () => socket.destroy(error as Error);
    }
    this.socket = socket;
  }

  /** Closes the connection without waiting for the server. Running statements fail. */
  abort(): void {
    // A Unix socket has no remote address. It delivers data immediately, so nothing is left to discard.
    if (this.socket.remoteAddress === undefined) void this.end();
    else this.socket.resetAndDestroy();
  }
}

/**
 * The server's timeout is shorter than the pool's, so a statement that the server has read is never executed after
 * the client has given up on it. `AbortableClient` discards a statement that the server has not read.
 */
const SERVER_SHARE_OF_TIMEOUT = 2 / 3;
/** How often the server checks that the client of a running statement is still connected. */
const CLIENT_CHECK_INTERVAL_MS = 1_000;
/**
 * If a client's machine vanishes during a transaction, the locks of the transaction block other clients until the
 * server ends the transaction: after an idle time of this many statement timeouts, or without responses to keep-alive
 * probes.
 */
const IDLE_TIMEOUTS = 2.5;
const KEEP_ALIVE_PROBES = { tcp_keepalives_idle: 30, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 };

/** The sizes and timeouts of a pool; see `DatabaseOptions`. */
interface PoolOptions {
  maxConnections: number;
  connectTimeoutMs: number;
  statementTimeoutMs: number;
}

/** Opens a connection pool for a PostgreSQL URL. The pool connects when the first statement runs. */
export function openPool(url: string, { maxConnections, connectTimeoutMs, statementTimeoutMs }: PoolOptions): pg.Pool {
  return new pg.Pool({
    connectionString: url,
    Client: AbortableClient,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    // The client's timeout. `configureSession` sets the server's.
    query_timeout: statementTimeoutMs,
    idleTimeoutMillis: 30_000,
    ...KEEP_ALIVE,
    application_name: 'groundswell',
    onConnect: (client) => configureSession(client, statementTimeoutMs),
  });
}

/**
 * Sets the server's timeouts, the isolation level, and the formats of dates and strings on a new connection, because a
 * role or a database may have other defaults. Uses statements, since a pooler may reject start-up parameters. Settings
 * that the server does not know are ignored.
 */
async function configureSession(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  const serverTimeoutMs = Math.floor(statementTimeoutMs * SERVER_SHARE_OF_TIMEOUT);
  const settings = {
    statement_timeout: serverTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * IDLE_TIMEOUTS,
    client_connection_check_interval: CLIENT_CHECK_INTERVAL_MS,
    ...KEEP_ALIVE_PROBES,
    transaction_timeout: 0,
    lock_timeout: 0,
    default_transaction_isolation: "'read committed'",
    datestyle: 'ISO',
    standard_conforming_strings: 'on',
  };
  for (const [name, value] of Object.entries(settings)) {
    await client.query(`SET ${name} = ${value}`).catch((error: unknown) => {
      if (isConnectionFailure(error)) throw error;
    });
  }
}

function abort(client: pg.PoolClient): void {
  if (client instanceof AbortableClient) client.abort();
}

const CHECK_INTERVAL_MS = 500;
/**
 * The connections count as dead after this many checks without a response. It is a count, not a time, so a process that
 * was suspended can first read the responses that have arrived in the meantime.
 */
const MAX_SILENT_CHECKS = 8;

interface PoolWatchdog {
  /** Call after every response from the server. */
  noteResponse(): void;
  /**
   * Starts the checks. Statements must run regularly, because a pool without responses counts as dead.
   * @returns a function that stops them.
   */
  start(intervalMs?: number): () => void;
  /** Closes the connections in use. Statements on them fail as `unavailable`, and the pool removes the connections. */
  closeBusy(): void;
}

/**
 * Closes the connections of a pool when none responds. After a failover, or behind a firewall that drops state, dead
 * connections look alive. Each statement would wait for its whole timeout, even when the database is back, and the dead
 * connections would leave no room for new ones.
 */
export function createPoolWatchdog(pool: pg.Pool, log: Log): PoolWatchdog {
  const busy = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (error, client) => {
    busy.delete(client);
    // The last statement of this client got no response, so the server must not execute it later.
    if (error instanceof Error && !((error.cause ?? error) instanceof pg.DatabaseError)) abort(client);
  });
  pool.on('remove', (client) => busy.delete(client));
  let silentChecks = 0;
  let isLogged = false;

  function closeBusy(): void {
    for (const client of busy) abort(client);
  }

  function check(): void {
    silentChecks += 1;
    if (silentChecks < MAX_SILENT_CHECKS) return;
    silentChecks = 0;
    if (!isLogged) log.warn('The database has not responded for several seconds; reopening the connections');
    isLogged = true;
    closeBusy();
    for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect().then(discard, () => {});
  }

  return {
    noteResponse() {
      silentChecks = 0;
      isLogged = false;
    },
    start(intervalMs = CHECK_INTERVAL_MS) {
      const timer = setInterval(check, intervalMs).unref();
      return () => clearInterval(timer);
    },
    closeBusy,
  };
}

function discard(client: pg.PoolClient): void {
  client.release(true);
}
