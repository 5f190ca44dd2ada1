import { createContext, type ReactNode, startTransition, useEffect, useState } from 'react';
import { intlLocale, perLocale, t } from '../language/translate.ts';
import { useProvided } from './use-provided.ts';

const TICK_MS = 60_000;

interface Time {
  /** When the server rendered the page, in milliseconds since 1970. */
  renderedAt: number;
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
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, [renderedAt]);
  return <TimeContext value={time}>{children}</TimeContext>;
}

/** Returns when the server rendered the page, in milliseconds since 1970. */
export function useRenderedAt(): number {
  return useProvided(TimeContext).renderedAt;
}

export function useNow(): number {
  return useProvided(TimeContext).now;
}

/** The age of something, such as "5 minutes ago", updated as time passes. Its tooltip shows the exact time. */
export function TimeAgo({ time }: { time: string }) {
  const now = useNow();
  const exact = Number.isNaN(Date.parse(time)) ? undefined : new Date(time).toISOString();
  return (
    <time className="time-ago" dateTime={exact} title={exact?.replace('T', ' ').replace(/\..*$/, ' UTC')}>
      {timeAgo(time, now)}
    </time>
  );
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Returns an age in the wording of the specification (section 9). `now` is in milliseconds since 1970. */
export function timeAgo(time: string | null | undefined, now: number): string {
  const then = time ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(then)) return t('Recently');
  const elapsed = now - then;
  // If the browser's clock is slow, a new comment has a negative age.
  if (elapsed < MINUTE_MS) return t('Just now');
  if (elapsed < HOUR_MS) return count(Math.floor(elapsed / MINUTE_MS), 'minute');
  if (elapsed < DAY_MS) return count(Math.floor(elapsed / HOUR_MS), 'hour');
  return count(Math.floor(elapsed / DAY_MS), 'day');
}

const agesOf = perLocale((locale) => new Intl.RelativeTimeFormat(locale));

function count(amount: number, unit: 'minute' | 'hour' | 'day'): string {
  const locale = intlLocale();
  if (locale) return agesOf(locale).format(-amount, unit);
  return `${amount} ${unit}${amount === 1 ? '' : 's'} ago`;
}
