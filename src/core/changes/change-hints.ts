import { randomUUID } from 'node:crypto';
import { CoreError } from '../core-error.ts';
import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';

const CHANNEL = 'groundswell_changes';

/** Behind a pooler that shares connections by transaction, listening succeeds and nothing ever comes. */
const PROBE_TIMEOUT_MS = 2_000;

/** Tells other processes that there is something to read, where the engine can. */
export interface ChangeHints {
  give(): void;
  stop(): Promise<void>;
}

/**
 * Hints (LISTEN and NOTIFY) that make processes read the table of changes at once instead of at their next time. They carry
 * nothing, and nothing depends on them: reading now and then is what finds every change.
 */
export function exchangeHints(database: Database, log: Log, onHint: () => void): ChangeHints {
  const self = randomUUID();
  let probe: NodeJS.Timeout | undefined;
  /** Only who hears hints gives them: others of the site are connected in the same way. */
  let areHeard = false;
  let hasHeardItself = false;
  let isStopped = false;

  const listening = database.listen(CHANNEL, {
    async onListening() {
      clearTimeout(probe);
      hasHeardItself = false;
      await send();
      // From when it is sent: that alone may take seconds on a machine that has too much to do.
      if (hasHeardItself || isStopped) return;
      probe = setTimeout(() => {
        log.info('The database passes no notices on, as behind some poolers: changes are found a moment later');
        areHeard = false;
        listening.pause();
      }, PROBE_TIMEOUT_MS).unref();
    },
    onNotice(sender) {
      if (sender !== self) return onHint();
      clearTimeout(probe);
      hasHeardItself = true;
      areHeard = true;
    },
  });

  function send(): Promise<unknown> {
    return database.query('SELECT pg_notify($1, $2)', [CHANNEL, self]).catch((error: unknown) => {
      if (error instanceof CoreError) return;
      // An engine without notices; it would say the same each time.
      areHeard = false;
    });
  }

  return {
    give() {
      if (areHeard) void send();
    },
    stop() {
      isStopped = true;
      clearTimeout(probe);
      return listening.stop();
    },
  };
}
