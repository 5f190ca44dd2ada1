import type { Database } from '../database/database.ts';
import type { Log } from '../log.ts';
import type { Change } from './change.ts';
import { type ChangeNote, followChanges, forgetOldChanges } from './change-feed.ts';
import { exchangeHints } from './change-hints.ts';
import { createChangeNotes } from './change-notes.ts';
import { type Missed, RecentChanges } from './recent-changes.ts';

/** How often notes that everybody has read are removed. */
const TIDY_INTERVAL_MS = 60_000;

/** Who keeps answers or tells open pages. */
export interface ChangeListener {
  /** A change by this process, at once, or by another, soon. Now and then it is told twice. */
  onChange(change: Change): void;
  /** Changes may have been missed, or are too many to be named: whatever is kept may be outdated. */
  onGap(): void;
  /** The database cannot be asked since a moment (milliseconds since 1970), or (undefined) it answers again. */
  onDeaf?(since: number | undefined): void;
}

/** Everything that any process changes, as this one hears of it. */
export interface SiteChanges {
  /** To be told what this process writes, after the commit and before it is acknowledged. */
  onWrite(change: Change): void;
  follow(listener: ChangeListener): void;
  /** To be waited for before anything is served: what others change before may not be told. Never rejects. */
  ready: Promise<void>;
  /** Up to which moment everything was heard: the database's time in milliseconds, undefined before the first reading. */
  heardUpTo(): number | undefined;
  /** What changed since such a moment, of these products or of all; undefined where that is not known any more. */
  since(moment: number, productIds?: Iterable<string>): Missed | undefined;
  /** Tells the others what is left. */
  close(): Promise<void>;
}

/** Follows what every process changes: this one's own writes at once, others' through the database. */
export function followSite(database: Database, log: Log): SiteChanges {
  const listeners: ChangeListener[] = [];
  const recent = new RecentChanges();
  let heardUpTo: number | undefined;
  /** From this process's steady clock to the database's time. */
  let clockOffset = 0;
  let history: readonly ChangeNote[] | undefined;
  const databaseNow = () => performance.now() + clockOffset;

  function tell(change: Change): void {
    recent.add(change, databaseNow());
    for (const listener of listeners) listener.onChange(change);
  }

  const notes = createChangeNotes(database, log, () => hints.give());
  const feed = followChanges(database, log, {
    onHistory(found) {
      history = found;
    },
    onChange(note) {
      // Its own was acted on already; that the others can read it only now counts for whoever comes from them.
      if (notes.isOwn(note.id)) recent.add(note, databaseNow());
      else tell(note);
    },
    onHeardUpTo(now) {
      clockOffset = now - performance.now();
      heardUpTo = now;
      if (history !== undefined) recent.begin(history, now);
      history = undefined;
    },
    onGap() {
      recent.forget(databaseNow());
      for (const listener of listeners) listener.onGap();
    },
    onDeaf(since) {
      for (const listener of listeners) listener.onDeaf?.(since);
    },
  });
  // The feed asks several times a second.
  const endWatch = database.watchSilence();
  const hints = exchangeHints(database, log, () => feed.readNow());
  const tidy = () =>
    forgetOldChanges(database).catch((error: unknown) => log.warn({ err: error }, 'Old notes of changes stay for now'));
  const timer = setInterval(tidy, TIDY_INTERVAL_MS).unref();

  return {
    onWrite(change) {
      tell(change);
      notes.add(change);
    },
    follow: (listener) => listeners.push(listener),
    ready: feed.firstTried,
    heardUpTo: () => heardUpTo,
    since: (moment, productIds) => recent.since(moment, productIds),
    async close() {
      clearInterval(timer);
      feed.stop();
      endWatch();
      await notes.close();
      await hints.stop();
    },
  };
}
