import { type ComponentType, useEffect, useState } from 'react';
import { cachedAt } from '../../service-worker/cached-at.ts';
import { OUTBOX_KEY } from '../../storage/browser-store.ts';

/** Offline reading and live counts do not compete with a visitor's first seconds. */
const QUIET_MS = 3_000;

/** Loads when the browser is idle, or at once if there is something to say about the network. */
export function DeferredSlot() {
  const [Parts, setParts] = useState<ComponentType | null>(null);

  useEffect(() => {
    const load = () =>
      import('./deferred-features.tsx').then(
        (module) => setParts(() => module.DeferredFeatures),
        // Offline and never loaded before: the site works without it.
        () => {},
      );
    if (cachedAt() !== undefined || !navigator.onLine || hasOutbox()) {
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
    return window.localStorage.getItem(OUTBOX_KEY) !== null;
  } catch {
    return false;
  }
}
