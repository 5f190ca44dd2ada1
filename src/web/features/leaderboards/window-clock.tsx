import { useEffect, useState } from 'react';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t } from '../../language/translate.ts';
import { clockTime } from '../../language/words.ts';
import { useNow } from '../../ui/now.tsx';

interface WindowClockProps {
  label: PlainMessage;
  /** When it reaches zero: ISO 8601. */
  end: string;
  onEnd: () => void;
}

/** A countdown, by the second. Screen readers get the instant next to it instead. */
export function WindowClock({ label, end, onEnd }: WindowClockProps) {
  const left = useMsUntil(Date.parse(end), onEnd);
  return (
    <p className="board-clock" aria-hidden="true">
      <span className="board-clock-label">{t(label)}</span>
      <span className="board-clock-time">{clockTime(left)}</span>
    </p>
  );
}

/** Starts with the time at which the server rendered the page, because the first render must match. */
function useMsUntil(end: number, onEnd: () => void): number {
  const [now, setNow] = useState(useNow());
  const isOver = now >= end;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= end) onEnd();
    }, 1_000);
    return () => clearInterval(timer);
  }, [end, isOver, onEnd]);
  return end - now;
}
