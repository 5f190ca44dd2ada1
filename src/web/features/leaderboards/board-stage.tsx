import { startTransition, useEffect, useState } from 'react';
import { adjacentPeriod, type Period } from '../../../contract/leaderboards/period.ts';
import type { Leaderboard } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { clockTime, formatInstant } from '../../language/format.ts';
import { t } from '../../language/translate.ts';
import { useNow } from '../../ui/time.tsx';

const WINDOW_MS = LIMITS.launchWindowHours * 3_600_000;

/** The stage of a board in words and, until the result is final, a countdown to the next stage. */
interface BoardStage {
  label: 'Open' | 'Last votes' | 'Provisional' | 'Final';
  words: string;
  clock?: { label: PlainMessage; end: string };
}

type StageFields = Pick<Leaderboard, 'status' | 'to' | 'finalAt' | 'revision' | 'revisedAt' | 'nextPeriod'>;

/** Describes the status of a board as the server reported it, because the browser's clock may be wrong. */
export function stageOf(
  { status, to, finalAt, revision, revisedAt, nextPeriod }: StageFields,
  timeZone?: string,
): BoardStage {
  const formatInSiteZone = (time: string) => formatInstant(time, timeZone);
  const closesAt = new Date(Date.parse(to) + WINDOW_MS).toISOString();
  if (status === 'final') {
    const words = t('Final since {time}.', { time: formatInSiteZone(finalAt) });
    if (revisedAt === null) return { label: 'Final', words };
    const time = formatInSiteZone(revisedAt);
    const revised = t('The result was last revised on {time}: this is revision {revision}.', { time, revision });
    return { label: 'Final', words: `${words} ${revised}` };
  }
  if (status === 'provisional') {
    return {
      label: 'Provisional',
      words: t('Voting is over. The votes are reviewed until {time}; then the result is final.', {
        time: formatInSiteZone(finalAt),
      }),
      clock: { label: 'Final in', end: finalAt },
    };
  }
  if (nextPeriod === null) {
    return {
      label: 'Open',
      words: t(
        'New launches are added until {to}. Each collects votes for {hours} hours, so ranks can change until {end}.',
        {
          to: formatInSiteZone(to),
          hours: LIMITS.launchWindowHours,
          end: formatInSiteZone(closesAt),
        },
      ),
      clock: { label: 'Open to new launches for', end: to },
    };
  }
  return {
    label: 'Last votes',
    words: t('No more launches are added. The last voting window ends by {time}.', {
      time: formatInSiteZone(closesAt),
    }),
    clock: { label: 'Voting ends in', end: closesAt },
  };
}

export type BoardSummary = StageFields & Pick<Leaderboard, 'launches' | 'previousPeriod'>;

/** Returns a probable summary of a board that is loading, to reserve its space. `now` is in milliseconds since 1970. */
export function expectedBoard(period: Period, now: number): BoardSummary {
  const to = Date.parse(period.endDay);
  const closesAt = to + WINDOW_MS;
  // By default, the review takes as long as a launch window, which is 24 hours.
  const finalAt = closesAt + WINDOW_MS;
  return {
    status: now < closesAt ? 'open' : now < finalAt ? 'provisional' : 'final',
    to: new Date(to).toISOString(),
    finalAt: new Date(finalAt).toISOString(),
    revision: 0,
    revisedAt: null,
    launches: 10,
    previousPeriod: adjacentPeriod(period, -1)?.name ?? null,
    nextPeriod: (now >= to && adjacentPeriod(period, 1)?.name) || null,
  };
}

interface WindowClockProps {
  label: PlainMessage;
  /** The end of the countdown, in ISO 8601. */
  end: string;
  /** Called when the countdown ends, and then repeatedly while it stays on screen and the tab is visible. */
  onEnd: () => void;
}

/** A countdown that is updated every second. Screen readers read the adjacent text instead of the countdown. */
export function WindowClock({ label, end, onEnd }: WindowClockProps) {
  const left = useMsUntil(Date.parse(end), onEnd);
  return (
    <p className="board-clock" aria-hidden="true">
      <span className="board-clock-label">{t(label)}</span>
      <span className="board-clock-time">{clockTime(left)}</span>
    </p>
  );
}

/** The mean interval between the calls of `onEnd`. Until the server's caches expire, responses may predate the end. */
const REPEAT_INTERVAL_MS = 15_000;

/**
 * Returns the milliseconds until `end`. During hydration, they are measured from the time of server rendering, because
 * the text must match the document.
 */
function useMsUntil(end: number, onEnd: () => void): number {
  const [now, setNow] = useState(useNow());
  const isOver = now >= end;
  useEffect(() => {
    const tick = () => setNow(Date.now());
    if (isOver) onEnd();
    // After a navigation, the initial time may be a minute old. Updates it in a transition for the same reason as
    // `NowProvider`.
    else startTransition(tick);
    const repeat = () => {
      if (document.visibilityState === 'visible') onEnd();
    };
    // The interval between repeats is random, so many browsers do not act simultaneously.
    const timer = isOver ? setInterval(repeat, REPEAT_INTERVAL_MS * (0.5 + Math.random())) : setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [isOver, onEnd]);
  return end - now;
}
