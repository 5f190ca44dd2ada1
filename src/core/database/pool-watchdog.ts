import { Socket } from 'node:net';
import pg from 'pg';
import type { Log } from '../runtime.ts';

/**
 * A client that can discard a statement that the server has not received. If its socket were only closed, the kernel
 * would retransmit the statement until the network is back. The server would then execute it minutes after its caller
 * got an error, and might overwrite a later write.
 */
export class AbortableClient extends pg.Client {
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
