import { rich, t } from '../../language/translate.ts';
import { createBrowserStore, useBrowserStore } from '../../storage/browser-store.ts';

/** A visit ends after this long without activity. */
export const VISIT_GAP_MS = 30 * 60_000;

/** Browser times, in milliseconds since 1970. */
interface Visits {
  /** The time of the last activity. */
  seenAt: number;
  /** The time at which the previous visit ended, or `null` during the first visit. */
  lastEndedAt: number | null;
}

export const visits = createBrowserStore<Visits | null>('visits', (stored) => (isVisits(stored) ? stored : null));

/** Returns `stored`, updated for activity at the time `now`. */
export function visitsAt(stored: Visits | null, now: number): Visits {
  if (!stored) return { seenAt: now, lastEndedAt: null };
  const isAnother = now - stored.seenAt >= VISIT_GAP_MS;
  return { seenAt: now, lastEndedAt: isAnother ? stored.seenAt : stored.lastEndedAt };
}

/**
 * Returns when the previous visit ended, even if the current visit has not been recorded yet. A hidden tab does not
 * begin a visit, because the news would be read long before the visitor returns.
 */
export function lastVisitEnd(stored: Visits | null): number | null {
  return stored && (document.visibilityState === 'hidden' ? stored : visitsAt(stored, Date.now())).lastEndedAt;
}

function isVisits(value: unknown): value is Visits {
  const { seenAt, lastEndedAt } = (value ?? {}) as Record<string, unknown>;
  return typeof seenAt === 'number' && (typeof lastEndedAt === 'number' || lastEndedAt === null);
}

/**
 * Marks a product that was launched since this browser's last visit. The marker is placed over the card's edge, so the
 * layout does not shift.
 */
export function NewMarker({ createdAt }: { createdAt: string }) {
  const since = useBrowserStore(visits, lastVisitEnd);
  if (since === null || !(Date.parse(createdAt) > since)) return null;
  return (
    <p className="new-marker">
      {rich('New{visit}', { visit: <span className="visually-hidden">{` ${t('since your last visit')}`}</span> })}
    </p>
  );
}
