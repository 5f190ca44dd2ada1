import { StrictMode, startTransition } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { App } from './app.tsx';
import { createHttpApi } from './lib/http-api.ts';
import { keptAt } from './lib/kept-at.ts';
import { isKeptDocument, type PageState, readAgainWhenThawed, restorePageState } from './lib/page-state.ts';
import { takePendingWrite } from './lib/pending-write.ts';
import { createQueryClient } from './lib/query-client.ts';
import { sessionId } from './lib/session.ts';
import { matchRoute } from './routes/table.ts';
import './styles.css';

async function start(): Promise<void> {
  const root = document.getElementById('root');
  const stateText = document.getElementById('state')?.textContent;
  if (!root || !stateText) throw new Error('The document has no #root or no #state');

  const state = JSON.parse(stateText) as PageState;
  const site = { name: state.siteName, url: state.siteUrl };
  const client = createQueryClient('browser');
  // Of a copy nothing newer can be had while there is no network.
  const isOutdated = isKeptDocument() || (keptAt() !== undefined && navigator.onLine);
  restorePageState(client, state, { fresh: !takePendingWrite() && !isOutdated });
  readAgainWhenThawed(client);
  // Hydration cannot wait in the middle: the code of this page's route has to be there first.
  await matchRoute(window.location.pathname).route.preload();
  // In slices, between which the browser answers to scrolling and typing: in one piece it would hold a slow phone up.
  startTransition(() => {
    const app = (
      <StrictMode>
        <BrowserRouter>
          <App api={createHttpApi({ sessionId })} client={client} site={site} renderedAt={state.renderedAt} />
        </BrowserRouter>
      </StrictMode>
    );
    // The document of a page that was not seen before the network went is an empty one.
    if (root.hasChildNodes()) hydrateRoot(root, app);
    else createRoot(root).render(app);
  });
  for (const sign of ['pointerover', 'focusin', 'touchstart'] as const) {
    document.addEventListener(sign, preloadWhatIsPointedAt, { passive: true });
  }
}

/** Fetches a page's code when somebody is about to go there, and not before: most visitors open one page. */
function preloadWhatIsPointedAt({ target }: Event): void {
  const link = target instanceof Element ? target.closest('a') : null;
  if (!link || link.origin !== window.location.origin) return;
  // What cannot be fetched now is asked for again by the visit itself.
  matchRoute(link.pathname)
    .route.preload()
    .catch(() => {});
}

void start();
