import { createBrowserStore } from '../../lib/browser-store.ts';

/** Somebody who is away for longer than this comes back for another visit. */
export const VISIT_GAP_MS = 30 * 60_000;

const NOTE_EVERY_MS = 60_000;

/** Moments of the browser's clock, in milliseconds since 1970. */
interface Visits {
  /** When the site was last looked at. */
  seenAt: number;
  /** When the visit before this one ended; `null` in the first one. */
  lastEndedAt: number | null;
}

export const visits = createBrowserStore<Visits | null>('visits', (kept) => (isVisits(kept) ? kept : null));

/** The visits as of a moment at which the site is looked at. */
export function visitsAt(kept: Visits | null, now: number): Visits {
  if (!kept) return { seenAt: now, lastEndedAt: null };
  const isAnother = now - kept.seenAt >= VISIT_GAP_MS;
  return { seenAt: now, lastEndedAt: isAnother ? kept.seenAt : kept.lastEndedAt };
}

/** When the visit before the present one ended, whether that was noted already or not. */
export function lastVisitEnd(kept: Visits | null): number | null {
  return kept && visitsAt(kept, Date.now()).lastEndedAt;
}

/** Notes now and then that the site is looked at, for as long as it is. Returns the end of it. */
export function watchVisit(): () => void {
  const note = () => {
    if (document.visibilityState === 'visible') visits.write(visitsAt(visits.read(), Date.now()));
  };
  note();
  const timer = setInterval(note, NOTE_EVERY_MS);
  document.addEventListener('visibilitychange', note);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', note);
  };
}

function isVisits(value: unknown): value is Visits {
  if (typeof value !== 'object' || value === null) return false;
  const { seenAt, lastEndedAt } = value as Record<string, unknown>;
  return typeof seenAt === 'number' && (typeof lastEndedAt === 'number' || lastEndedAt === null);
}
