import { StrictMode, startTransition } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { App } from './app.tsx';
import { createHttpApi } from './lib/http-api.ts';
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
  restorePageState(client, state, { fresh: !takePendingWrite() && !isKeptDocument() });
  readAgainWhenThawed(client);
  // Hydration cannot wait in the middle: the code of this page's route has to be there first.
  await matchRoute(window.location.pathname).route.preload();
  // In slices, between which the browser answers to scrolling and typing: in one piece it would hold a slow phone up.
  startTransition(() => {
    hydrateRoot(
      root,
      <StrictMode>
        <BrowserRouter>
          <App api={createHttpApi({ sessionId })} client={client} site={site} renderedAt={state.renderedAt} />
        </BrowserRouter>
      </StrictMode>,
    );
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
