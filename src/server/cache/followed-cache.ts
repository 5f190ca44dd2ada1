import { followChanges, forgetOldChanges } from '../../core/changes/change-feed.ts';
import { createChangeNotes } from '../../core/changes/change-notes.ts';
import type { Database } from '../../core/database/database.ts';
import type { Log } from '../../core/log.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';

/** How often notes that everybody has read are removed. */
const TIDY_INTERVAL_MS = 60_000;

export interface FollowedCache {
  cache: AnswerCache;
  /** To be told what this process writes, after the commit and before it is acknowledged. */
  onWrite(productIds: ReadonlySet<string>): void;
  changes: { close(): Promise<void> };
}

/** A cache that hears of every change: of this process's own at once, of others' through the database. */
export function createFollowedCache(database: Database, log: Log, keeps: boolean): FollowedCache {
  const cache = createAnswerCache({ log, ...(keeps ? {} : { maxBytes: 0 }) });
  const notes = createChangeNotes(database, log);
  const stopFollowing = followChanges(database, log, {
    onChange(change, noteId) {
      if (!notes.isOwn(noteId)) cache.drop(change);
    },
    onGap: () => cache.dropAll(),
    onDeaf: (since) => cache.setDeafSince(since),
  });
  const tidy = () =>
    forgetOldChanges(database).catch((error: unknown) => log.warn({ err: error }, 'Old notes of changes stay for now'));
  const timer = setInterval(tidy, TIDY_INTERVAL_MS).unref();

  return {
    cache,
    onWrite(productIds) {
      cache.drop({ productIds: [...productIds], catalogue: false });
      notes.add(productIds);
    },
    changes: {
      async close() {
        clearInterval(timer);
        stopFollowing();
        await notes.close();
      },
    },
  };
}
