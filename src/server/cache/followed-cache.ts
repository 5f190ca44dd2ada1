import type { SiteChanges } from '../../core/changes/site-changes.ts';
import type { Log } from '../../core/log.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';

/** A cache that hears of every change; one that `keeps` nothing makes each answer anew. */
export function createFollowedCache(changes: SiteChanges, log: Log, keeps: boolean): AnswerCache {
  const cache = createAnswerCache({ log, ...(keeps ? {} : { maxBytes: 0 }) });
  changes.follow({
    onChange: (change) => cache.drop(change),
    onGap: () => cache.dropAll(),
    onDeaf: (since) => cache.setDeafSince(since),
  });
  return cache;
}
