import type { Database } from '../database/database.ts';
import { type ModeratedComment, moderateComments } from './moderate-comments.ts';

/** The comments that were released, and the ids that are of no held comment: unknown, removed, or public already. */
export interface Release {
  released: ModeratedComment[];
  notHeld: string[];
}

/**
 * Makes held comments public and counts them; who wrote them is forgotten. One that is hidden as well stays hidden. All or
 * nothing.
 * @throws CoreError `unavailable`.
 */
export async function releaseComments(database: Database, ids: readonly string[]): Promise<Release> {
  const { done: released, skipped: notHeld } = await moderateComments(database, ids, {
    act: 'comments release',
    set: 'held_for = NULL',
    where: 'held_for IS NOT NULL',
    counted: 'hidden_at IS NULL',
    sign: 1,
  });
  return { released, notHeld };
}
