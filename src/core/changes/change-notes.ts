import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Change } from './change.ts';
import { noteChange } from './change-feed.ts';

/** Writes come in by the thousand; the others are told of them this often. */
const FLUSH_INTERVAL_MS = 100;

/** How many of its own notes a process remembers, so that it does not act on them twice. */
const OWN_NOTES = 1_000;

export interface ChangeNotes {
  /** What this process has changed, after the commit. */
  add(change: Change): void;
  /** Whether a note was written by this process, which has acted on it already. */
  isOwn(noteId: string): boolean;
  /** Writes what is left. */
  close(): Promise<void>;
}

/**
 * Tells the other processes what this one committed, a few times a second and so not in the same transaction: it may die
 * in between, which is why nobody takes an answer for current for more than a minute. `onNoted` hears of each note that the
 * others can read.
 */
export function createChangeNotes(database: Database, log: Log, onNoted: () => void = () => {}): ChangeNotes {
  let productIds = new Set<string>();
  let commentIds = new Set<string>();
  const own = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (productIds.size === 0) return;
    const change = { productIds: [...productIds], commentIds: [...commentIds], catalogue: false };
    productIds = new Set();
    commentIds = new Set();
    try {
      remember(await noteChange(database, change));
      onNoted();
    } catch (error) {
      log.warn({ err: error }, 'Other processes could not be told of changes yet');
      add(change);
    }
  }

  function remember(noteId: string): void {
    own.add(noteId);
    for (const oldest of own) {
      if (own.size <= OWN_NOTES) return;
      own.delete(oldest);
    }
  }

  function add(change: Change): void {
    for (const id of change.productIds) productIds.add(id);
    for (const id of change.commentIds ?? []) commentIds.add(id);
    timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
  }

  return {
    add,
    isOwn: (noteId) => own.has(noteId),
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}
