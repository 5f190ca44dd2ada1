import { rich, t } from '../../language/translate.ts';
import { useBrowserStore } from '../../storage/browser-store.ts';
import { lastVisitEnd, visits } from './visits.ts';

/**
 * Marks a product that was launched since this browser's last visit. It lies over the card's edge, so the layout does
 * not shift.
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
