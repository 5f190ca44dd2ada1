import { dateFormat } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { useNow, useRenderedAt } from '../../ui/time.tsx';

/**
 * Returns the current day in the site's time zone, which changes while a tab stays open; empty if unknown. It is
 * counted from the server's time, because the browser's clock may be wrong. If the browser does not know the time zone,
 * returns the server's day, because the board of a later one may not exist yet.
 */
export function useToday(): string {
  const { today, timeZone } = useSite();
  const renderedAt = useRenderedAt();
  const now = useNow();
  const elapsed = now === renderedAt ? 0 : now - performance.timeOrigin;
  const day = timeZone ? dateFormat('sv', { timeZone }).format(renderedAt + elapsed) : '';
  return today && day > today ? day : today;
}
