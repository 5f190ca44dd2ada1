import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { paths } from '../../../contract/paths.ts';
import { ShortcutsButton } from '../../features/keyboard/shortcuts-button.tsx';
import { t } from '../../language/translate.ts';
import { useSiteName } from '../../routing/document-head.ts';
import { cachedAt } from '../../service-worker/cached-at.ts';
import { OUTBOX_KEY } from '../../storage/browser-store.ts';
import { Link } from '../../ui/link.tsx';
import { Toaster } from '../../ui/toaster.tsx';
import { SiteHeader } from './site-header.tsx';

export function Layout({ children }: { children: ReactNode }) {
  return (
    <>
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      <SiteHeader />
      <main id="main" className="page" tabIndex={-1}>
        {children}
      </main>
      <SiteFooter />
      <Toaster />
      <DeferredSlot />
    </>
  );
}

function SiteFooter() {
  return (
    <footer className="site-footer">
      <p>
        <Link to={paths.home}>{useSiteName()}</Link> · {t('Names and marks of products belong to their owners.')}
      </p>
      <ShortcutsButton />
    </footer>
  );
}

/** Offline reading and live counts do not compete with a visitor's first seconds. */
const QUIET_MS = 3_000;

/** Loads when the browser is idle, or at once if there is something to say about the network. */
function DeferredSlot() {
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
