/**
 * Returns the URL of the moderation log, starting at a cursor. This file is separate from `paths.ts`, so the initial
 * bundle does not contain it.
 */
export const moderationLog = (cursor?: string) => (cursor ? `/?log&cursor=${encodeURIComponent(cursor)}` : '/?log');
