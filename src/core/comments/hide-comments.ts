import type { Database } from '../database/database.ts';
import { type Moderation, moderateComments } from './moderate-comments.ts';

/**
 * Hides comments from everybody, their authors too; they are kept, and no longer counted. Whether one is held as well stays
 * as it is.
 * @throws CoreError `unavailable`.
 */
export function hideComments(database: Database, ids: readonly string[], reason?: string): Promise<Moderation> {
  return moderateComments(database, ids, {
    act: 'comments hide',
    // Not the clock itself: it differs between the servers of a distributed database, which therefore refuses it here.
    set: 'hidden_at = statement_timestamp(), hidden_reason = reason.given',
    where: 'hidden_at IS NULL',
    counted: 'held_for IS NULL',
    sign: -1,
    reason,
  });
}
