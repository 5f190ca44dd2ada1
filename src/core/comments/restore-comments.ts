import type { Database } from '../database/database.ts';
import { type Moderation, moderateComments } from './moderate-comments.ts';

/**
 * Shows hidden comments again and counts them; one that is held as well stays held.
 * @throws CoreError `unavailable`.
 */
export function restoreComments(database: Database, ids: readonly string[]): Promise<Moderation> {
  return moderateComments(database, ids, {
    act: 'comments restore',
    set: 'hidden_at = NULL, hidden_reason = NULL',
    where: 'hidden_at IS NOT NULL',
    counted: 'held_for IS NULL',
    sign: 1,
  });
}
