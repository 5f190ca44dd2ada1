import { type ComponentType, useEffect, useState } from 'react';
import { keptAt } from '../../lib/kept-at.ts';
import { OUTBOX_STORAGE_KEY } from '../../lib/send-later.ts';

/** Nothing of reading offline competes with a visitor's first seconds. */
const QUIET_MS = 3_000;

/** Where the note about the network will be. Its code comes when all is quiet, or at once where it has something to say. */
export function OfflineSlot() {
  const [Note, setNote] = useState<ComponentType | null>(null);

  useEffect(() => {
    const load = () =>
      import('./offline-note.tsx').then(
        ({ OfflineNote }) => setNote(() => OfflineNote),
        // Without a network and never loaded before: the site is as it is without this.
        () => {},
      );
    if (keptAt() !== undefined || !navigator.onLine || hasOutbox()) {
      void load();
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const afterLoad = () => {
      timer = setTimeout(() => (window.requestIdleCallback ?? setTimeout)(load), QUIET_MS);
    };
    if (document.readyState === 'complete') afterLoad();
    else window.addEventListener('load', afterLoad, { once: true });
    return () => {
      window.removeEventListener('load', afterLoad);
      clearTimeout(timer);
    };
  }, []);

  return Note && <Note />;
}

function hasOutbox(): boolean {
  try {
    return window.localStorage.getItem(OUTBOX_STORAGE_KEY) !== null;
  } catch {
    return false;
  }
}
