import { createContext, type ReactNode, startTransition, useContext, useEffect, useState } from 'react';
import { intlLocale, perLocale, t } from '../language/translate.ts';

const TICK_MS = 60_000;
const RenderedAtContext = createContext(0);
const NowContext = createContext(0);

/**
 * The time from which "5 minutes ago" is counted. It starts as the time at which the server rendered the page, which
 * may be hours ago in a cached page: the first render must repeat the server's text.
 */
export function NowProvider({ renderedAt, children }: { renderedAt: number; children: ReactNode }) {
  const [now, setNow] = useState(renderedAt);
  useEffect(() => {
    // This update must not be urgent: it changes a context of the whole screen, which React would then hydrate in one piece.
    const tick = () => startTransition(() => setNow(Date.now()));
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <RenderedAtContext value={renderedAt}>
      <NowContext value={now}>{children}</NowContext>
    </RenderedAtContext>
  );
}

/** When the server rendered the page, in milliseconds since 1970. */
export function useRenderedAt(): number {
  return useContext(RenderedAtContext);
}

export function useNow(): number {
  return useContext(NowContext);
}

/** An age that is updated as time passes; the exact time is its tooltip. */
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

/** An age in the specification's words (section 9). `now` is in milliseconds. */
export function timeAgo(time: string | null | undefined, now: number): string {
  const then = time ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(then)) return t('Recently');
  const elapsed = now - then;
  // A clock that runs behind the server's makes a new comment's age negative.
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
