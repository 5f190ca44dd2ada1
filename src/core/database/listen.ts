import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Without keep-alive, a client that has no timeout would wait forever for a server that disappeared silently. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };

const CONNECT_TIMEOUT_MS = 5_000;
const INITIAL_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 10 * 60 * 1_000;

export interface Listener {
  /** Called after each successful LISTEN. `ended` resolves when its connection is lost. */
  onListening(ended: Promise<void>): void;
  onNotification(payload: string): void;
}

export interface Listening {
  /** Closes the connection and reopens it after ten minutes. Call it if notifications do not seem to arrive. */
  pause(): void;
  stop(): Promise<void>;
}

/**
 * Listens on a channel over a separate connection, and reconnects when the connection is lost. Not every engine has
 * notifications, and not every pooler forwards them, so failures are not logged but retried with growing delays.
 */
export class NotificationListener implements Listening {
  readonly #url: string;
  readonly #channel: string;
  readonly #listener: Listener;
  readonly #stopping = new AbortController();
  /** Undefined between two connections. */
  #client: pg.Client | undefined;
  #backoffMs = INITIAL_BACKOFF_MS;

  constructor(url: string, channel: string, listener: Listener) {
    this.#url = url;
    this.#channel = channel;
    this.#listener = listener;
    void this.#keepConnected();
  }

  pause(): void {
    this.#backoffMs = MAX_BACKOFF_MS;
    this.#client?.end().catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#client?.end().catch(() => {});
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const client = createClient(this.#url);
        this.#client = client;
        client.on('notification', ({ payload = '' }) => this.#listener.onNotification(payload));
        // A connection that is closed while it is being opened emits only `end`.
        const ended = new Promise<void>((resolve) => client.once('end', resolve));
        await Promise.race([ended, this.#listen(client, ended)]);
      } catch {
        // `createClient` throws if it cannot read the file at `sslrootcert`, for example while the file is being
        // replaced. The loop tries again.
      }
      if (signal.aborted) return;
      this.#client = undefined;
      const backoffMs = this.#backoffMs;
      this.#backoffMs = Math.min(MAX_BACKOFF_MS, backoffMs * 2);
      await delay(backoffMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #listen(client: pg.Client, ended: Promise<void>): Promise<void> {
    try {
      await client.connect();
      const { rows } = await client.query<{ statement: string }>(selectListenStatement(this.#channel));
      await client.query(rows[0]?.statement ?? `LISTEN ${this.#channel}`);
      if (this.#stopping.signal.aborted) return;
      this.#backoffMs = INITIAL_BACKOFF_MS;
      this.#listener.onListening(ended);
      await ended;
    } catch {
      await client.end().catch(() => {});
    }
  }
}

/**
 * Returns a query whose result is the LISTEN statement. Each schema of a database may have a site, so the statement has
 * a comment with the id of the schema, by which `pg_stat_activity` shows whose listener it is.
 */
export function selectListenStatement(channel: string): string {
  return `SELECT 'LISTEN ${channel} /* schema ' || oid || ' */' AS statement
    FROM pg_namespace WHERE nspname = current_schema()`;
}

function createClient(url: string): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
    ...KEEP_ALIVE,
    application_name: 'groundswell',
  });
  // Every error also ends the connection, and the handlers of `end` reconnect.
  client.on('error', () => {});
  return client;
}
