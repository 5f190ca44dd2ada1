import { useNow } from '../lib/now.tsx';
import { timeAgo } from '../lib/time-ago.ts';

/** How long ago something was, kept up to date; the exact time is its tooltip. */
export function TimeAgo({ time }: { time: string }) {
  const now = useNow();
  const exact = Number.isNaN(Date.parse(time)) ? undefined : new Date(time).toISOString();
  return (
    <time className="time-ago" dateTime={exact} title={exact?.replace('T', ' ').replace(/\..*$/, ' UTC')}>
      {timeAgo(time, now)}
    </time>
  );
}
