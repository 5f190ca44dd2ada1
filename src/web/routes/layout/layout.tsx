import { type ReactNode, startTransition, useEffect, useState } from 'react';
import * as paths from '../../../contract/paths.ts';
import { ShortcutsButton } from '../../features/keyboard/shortcuts-button.tsx';
import { LiveUpdatesContext } from '../../features/live/live-updates-slot.tsx';
import { t } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { loadOnVisit } from '../../routing/lazy-screen.tsx';
import { cachedAt } from '../../service-worker/cached-at.ts';
import { OUTBOX_KEY } from '../../storage/browser-store.ts';
import { Link } from '../../ui/link.tsx';
import { Toaster } from '../../ui/toaster.tsx';
import { SiteHeader } from './site-header.tsx';

export function Layout({ children }: { children: ReactNode }) {
  const deferred = useDeferred();
  return (
    <LiveUpdatesContext value={deferred?.LiveUpdates}>
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      <SiteHeader />
      <main id="main" className="page" tabIndex={-1}>
        {children}
      </main>
      <SiteFooter />
      <Toaster />
      {deferred && <deferred.DeferredFeatures />}
    </LiveUpdatesContext>
  );
}

function SiteFooter() {
  return (
    <footer className="site-footer">
      <p>
        <Link to={paths.home}>{useSite().name}</Link> · {t('Product names and trademarks belong to their owners.')}
      </p>
      <ShortcutsButton />
    </footer>
  );
}

/** The delay after which the deferred features load, so they do not compete with the page. */
const DEFERRED_LOAD_DELAY_MS = 3_000;

type Deferred = typeof import('./deferred-features.tsx').DEFERRED;

/**
 * Returns the deferred features once they have loaded: three seconds after the page, or immediately if the page came
 * from the offline cache, the browser is offline or writes are queued.
 */
function useDeferred(): Deferred | undefined {
  const [deferred, setDeferred] = useState<Deferred>();

  useEffect(() => {
    const load = () =>
      loadOnVisit(() => import('./deferred-features.tsx')).then((module) =>
        // Updates the context in a transition, because an urgent update would make React hydrate the whole page in one
        // piece.
        startTransition(() => setDeferred(module.DEFERRED)),
      );
    if (cachedAt() !== undefined || !navigator.onLine || hasOutbox()) {
      void load();
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const afterLoad = () => {
      timer = setTimeout(load, DEFERRED_LOAD_DELAY_MS);
    };
    if (document.readyState === 'complete') afterLoad();
    else window.addEventListener('load', afterLoad, { once: true });
    return () => {
      window.removeEventListener('load', afterLoad);
      clearTimeout(timer);
    };
  }, []);

  return deferred;
}

function hasOutbox(): boolean {
  try {
    return window.localStorage.getItem(OUTBOX_KEY) !== null;
  } catch {
    return false;
  }
}
