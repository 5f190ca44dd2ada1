import { type ComponentType, useEffect, useState } from 'react';
import { keptAt } from '../../lib/kept-at.ts';
import { OUTBOX_STORAGE_KEY } from '../../lib/send-later.ts';

/** Nothing of reading offline and of live counts competes with a visitor's first seconds. */
const QUIET_MS = 3_000;

/** What comes when all is quiet, or at once where there is something to say about the network. */
export function LateSlot() {
  const [Parts, setParts] = useState<ComponentType | null>(null);

  useEffect(() => {
    const load = () =>
      import('./late-parts.tsx').then(
        ({ LateParts }) => setParts(() => LateParts),
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

  return Parts && <Parts />;
}

function hasOutbox(): boolean {
  try {
    return window.localStorage.getItem(OUTBOX_STORAGE_KEY) !== null;
  } catch {
    return false;
  }
}
