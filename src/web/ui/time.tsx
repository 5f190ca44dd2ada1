import { createContext, type ReactNode, startTransition, useEffect, useState } from 'react';
import { intlLocale, perLocale, t } from '../language/translate.ts';
import { useProvided } from './use-provided.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Time {
  /** When the server rendered the page, in milliseconds since 1970. */
  renderedAt: number;
  /** Milliseconds since 1970. */
  now: number;
}

const TimeContext = createContext<Time | null>(null);

/**
 * Provides the current time for ages such as "5 minutes ago". It starts with the time at which the server rendered the
 * page, because the first render must match the server's text, and a cached page may be hours old.
 */
export function NowProvider({ renderedAt, children }: { renderedAt: number; children: ReactNode }) {
  const [time, setTime] = useState({ renderedAt, now: renderedAt });
  useEffect(() => {
    // Uses a transition, because an urgent update of this context would make React hydrate the whole page in one piece.
    const tick = () => startTransition(() => setTime({ renderedAt, now: Date.now() }));
    tick();
    const timer = setInterval(tick, MINUTE_MS);
    // Timers do not run while the device sleeps or the page is in the back/forward cache.
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [renderedAt]);
  return <TimeContext value={time}>{children}</TimeContext>;
}

/** Returns when the server rendered the page, in milliseconds since 1970. */
export function useRenderedAt(): number {
  return useProvided(TimeContext).renderedAt;
}

/** Returns the current time in milliseconds since 1970, updated every minute. */
export function useNow(): number {
  return useProvided(TimeContext).now;
}

/** The age of something, such as "5 minutes ago", updated as time passes. Its tooltip shows the exact time. */
export function TimeAgo({ time }: { time: string }) {
  const now = useNow();
  // `toJSON` returns null for an invalid time.
  const exact = new Date(Date.parse(time)).toJSON() ?? undefined;
  return (
    <time className="time-ago" dateTime={exact} title={exact?.replace(/T(.*)\..*/, ' $1 UTC')}>
      {timeAgo(time, now)}
    </time>
  );
}

/** Returns an age in the wording of the specification (section 9). `now` is in milliseconds since 1970. */
export function timeAgo(time: string | null | undefined, now: number): string {
  const elapsed = now - Date.parse(time ?? '');
  if (Number.isNaN(elapsed)) return t('Recently');
  // If the browser's clock is slow, a new comment has a negative age.
  if (elapsed < MINUTE_MS) return t('Just now');
  if (elapsed < HOUR_MS) return formatAge(elapsed / MINUTE_MS, 'minute');
  if (elapsed < DAY_MS) return formatAge(elapsed / HOUR_MS, 'hour');
  return formatAge(elapsed / DAY_MS, 'day');
}

const agesOf = perLocale((locale) => new Intl.RelativeTimeFormat(locale));

function formatAge(elapsed: number, unit: 'minute' | 'hour' | 'day'): string {
  const amount = Math.floor(elapsed);
  const locale = intlLocale();
  if (locale) return agesOf(locale).format(-amount, unit);
  return `${amount} ${unit}${amount === 1 ? '' : 's'} ago`;
}
