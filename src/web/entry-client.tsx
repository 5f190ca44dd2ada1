import { StrictMode, startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { matchRoute } from '../contract/routes.ts';
import { createHttpApi } from './api/http-api.ts';
import { App } from './app.tsx';
import { isRestoredDocument, type PageState, refetchWhenRestored, restorePageState } from './cache/page-state.ts';
import { createQueryClient } from './cache/query-client.ts';
import { SCREENS } from './routes/screens.ts';
import { BrowserRouter } from './routing/router.tsx';
import { cachedAt } from './service-worker/cached-at.ts';
import { takeUnfinishedWrite } from './storage/pending-write.ts';
import { sessionId } from './storage/session.ts';
import './styles.css';
import { type ReactNode, useEffect } from 'react';

async function start(): Promise<void> {
  const root = document.getElementById('root');
  const stateText = document.getElementById('state')?.textContent;
  if (!root || !stateText) throw new Error('The document has no #root or no #state');

  const state = JSON.parse(stateText) as PageState;
  const client = createQueryClient('browser');
  // Offline, a copy cannot be refreshed.
  const isOutdated = isRestoredDocument() || (cachedAt() !== undefined && navigator.onLine);
  restorePageState(client, state, { fresh: !takeUnfinishedWrite() && !isOutdated });
  refetchWhenRestored(client);
  // Hydration cannot wait in the middle: the code of this page's route has to be loaded first.
  await SCREENS[matchRoute(window.location.pathname, window.location.search).name].preload();
  // In slices, so the browser responds to scrolling and typing in between: in one piece it would block a slow phone.
  startTransition(() => {
    const app = (
      <StrictMode>
        <BrowserRouter>
          <EarlyClicks>
            <App api={createHttpApi({ sessionId })} client={client} site={state.site} renderedAt={state.renderedAt} />
          </EarlyClicks>
        </BrowserRouter>
      </StrictMode>
    );
    // Offline, a page that was never visited has an empty document.
    if (root.hasChildNodes()) hydrateRoot(root, app);
    else createRoot(root).render(app);
  });
  for (const sign of ['pointerover', 'focusin', 'touchstart'] as const) {
    document.addEventListener(sign, preloadLinkedRoute, { passive: true });
  }
}

/** Fetches a page's code when a visit is likely, and not before: most visitors open one page. */
function preloadLinkedRoute({ target }: Event): void {
  const link = target instanceof Element ? target.closest('a') : null;
  if (!link || link.origin !== window.location.origin) return;
  // The visit itself retries a failed prefetch.
  SCREENS[matchRoute(link.pathname, link.search).name].preload().catch(() => {});
}

void start();

declare global {
  interface Window {
    /** Set by the head script: ends the recording and returns the buttons clicked so far, oldest first. */
    takeEarlyClicks?: () => HTMLElement[];
  }
}

/** Repeats the clicks that came before hydration, once handlers are attached. React hydrates the part that a click needs at once. */
function EarlyClicks({ children }: { children: ReactNode }) {
  useEffect(() => {
    // After the commit: React cannot hydrate for an event in the middle of it.
    const timer = setTimeout(() => {
      for (const button of window.takeEarlyClicks?.() ?? []) {
        if (button.isConnected) button.click();
      }
    });
    return () => clearTimeout(timer);
  }, []);
  return children;
}
