import type { Sql } from '../database/database.ts';

// Undoing a decline brings its product back, as restoring a removed product does.
const SELECT_ENTRIES = `SELECT id, action, target, undoes FROM audit_log
  WHERE target = ANY($1::text[]) AND action IN ('submissions approve', 'submissions schedule', 'submissions decline',
    'submissions undo', 'products remove', 'products restore')
  ORDER BY created_at`;

interface Entry {
  id: string;
  action: string;
  target: string;
  undoes: string | null;
}

/**
 * Finds approved submissions whose products were removed and not restored. A product that has the id of such a
 * submission was imported after the removal, and does not belong to the submission's maker.
 * @returns the ids of these submissions. @throws CoreError `unavailable`.
 */
export async function findRemoved(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // The entries that took the products off the site, by id. Later entries are about other products with the same id.
  const removals = new Map<string, string>();
  for (const { id, action, target, undoes } of await sql.query<Entry>(SELECT_ENTRIES, [ids])) {
    const removal = removals.get(target);
    switch (action) {
      case 'submissions approve':
      case 'submissions schedule':
        removals.delete(target);
        break;
      case 'submissions undo':
      case 'products restore':
        if (undoes === removal) removals.delete(target);
        break;
      default:
        removals.set(target, removal ?? id);
    }
  }
  return new Set(removals.keys());
}

/** Returns whether the product of an approved submission was removed and not restored, like `findRemoved`. */
export async function isRemoved(sql: Sql, id: string): Promise<boolean> {
  return (await findRemoved(sql, [id])).has(id);
}
