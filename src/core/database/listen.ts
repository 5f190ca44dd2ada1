import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60 * 1_000;

export interface Listener {
  /** Called after each successful LISTEN. */
  onListening(): void;
  onNotice(payload: string): void;
}

export interface Listening {
  /** Closes the connection for ten minutes, if it seems to receive no notifications. */
  pause(): void;
  stop(): Promise<void>;
}

/**
 * Listens to notifications of a channel on a separate connection, and reconnects after a loss. Not every engine has
 * notifications, and not every pooler forwards them, so failures are not logged but retried with growing delays.
 */
export function listenOn(url: string, channel: string, listener: Listener): Listening {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isStopped = false;

  async function start(): Promise<void> {
    const own = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      // Without keep-alive, the client would wait forever for a server that disappeared silently.
      keepAlive: true,
      application_name: 'groundswell',
    });
    client = own;
    own.on('notification', ({ payload = '' }) => listener.onNotice(payload));
    // Every error ends the connection, so 'end' handles it.
    own.on('error', () => {});
    own.on('end', () => again(own));
    try {
      await own.connect();
      await own.query(`LISTEN ${channel}`);
      if (isStopped || client !== own) return;
      pauseMs = FIRST_PAUSE_MS;
      listener.onListening();
    } catch {
      await own.end().catch(() => {});
      again(own);
    }
  }

  function again(lost: pg.Client): void {
    if (isStopped || client !== lost) return;
    client = undefined;
    timer = setTimeout(start, pauseMs).unref();
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }

  void start();
  return {
    pause() {
      pauseMs = LONGEST_PAUSE_MS;
      client?.end().catch(() => {});
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
