import type { Database } from '../../core/database/database.ts';
import type { Log } from '../../core/log.ts';
import { forgetOldBursts, saveUpvoteBursts } from '../../core/stats/upvote-bursts.ts';
import { createUpvoteBursts, type UpvoteBursts } from './upvote-bursts.ts';

/** How often bursts are written down, and those of last week forgotten. */
const FLUSH_INTERVAL_MS = 60_000;

/** Watches for bursts for as long as the site runs. */
export function watchBursts(database: Database, log: Log): UpvoteBursts & { close(): Promise<void> } {
  const bursts = createUpvoteBursts({
    now: Date.now,
    log,
    save: (found) => saveUpvoteBursts(database, found),
  });
  const forget = () =>
    forgetOldBursts(database, new Date()).catch((error: unknown) =>
      log.warn({ err: error }, 'Old bursts of upvotes stay for now'),
    );
  const timer = setInterval(() => void bursts.flush().then(forget), FLUSH_INTERVAL_MS).unref();
  return {
    ...bursts,
    async close() {
      clearInterval(timer);
      await bursts.flush();
    },
  };
}
