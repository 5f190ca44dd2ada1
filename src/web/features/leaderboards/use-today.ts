import { isRestoredDocument } from '../../cache/query-client.ts';
import { dateFormat } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { cachedAt } from '../../service-worker/cached-at.ts';
import { useNow, useRenderedAt } from '../../ui/time.tsx';

/**
 * The browser's time at which this code ran, soon after the document was requested. After the device has slept,
 * `performance.timeOrigin` may be days too early.
 */
const loadedAt = Date.now();

/**
 * Returns the current day in the site's time zone as `YYYY-MM-DD`, or an empty string if unknown. The day advances
 * while a tab stays open. It is derived from the server's time, because the browser's clock may be wrong. If the
 * browser does not know the time zone, returns the server's day, because the board of a later day may not exist yet.
 */
export function useToday(): string {
  const { today, timeZone } = useSite();
  const renderedAt = useRenderedAt();
  const now = useNow();
  // A cached document may be days old. If the browser restored it from its HTTP cache, only the browser's clock shows
  // its age.
  const begunAt = () => Date.parse(cachedAt() ?? '') || (isRestoredDocument() ? renderedAt : loadedAt);
  const elapsed = now === renderedAt ? 0 : now - begunAt();
  const day = timeZone ? dateFormat('sv', { timeZone }).format(renderedAt + elapsed) : '';
  return today && day > today ? day : today;
}
