import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60 * 1_000;

export interface Listener {
  /** The channel is listened to now. */
  onListening(): void;
  onNotice(payload: string): void;
}

export interface Listening {
  /** Gives the connection up for some minutes: it seems not to hear anything. */
  pause(): void;
  stop(): Promise<void>;
}

/**
 * Listens to notices of a channel on a connection of its own, and comes back when that is lost. Not every engine has
 * notices, and not every pooler passes them on, so that failing is no fault: it is tried again, less and less often.
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
      // A server that went away without a word would be waited for for ever.
      keepAlive: true,
      application_name: 'groundswell',
    });
    client = own;
    own.on('notification', ({ payload = '' }) => listener.onNotice(payload));
    // Whatever is wrong with a connection, it ends.
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
