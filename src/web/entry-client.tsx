import { StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { App } from './app.tsx';
import { createHttpApi } from './lib/http-api.ts';
import { type PageState, restorePageState } from './lib/page-state.ts';
import { createQueryClient } from './lib/query-client.ts';
import { sessionId } from './lib/session.ts';
import { matchRoute, ROUTES } from './routes/table.ts';
import './styles.css';

async function start(): Promise<void> {
  const root = document.getElementById('root');
  const stateText = document.getElementById('state')?.textContent;
  if (!root || !stateText) throw new Error('The document has no #root or no #state');

  const state = JSON.parse(stateText) as PageState;
  const client = createQueryClient('browser');
  restorePageState(client, state);
  // Hydration cannot wait in the middle: the code of this page's route has to be there first.
  await matchRoute(window.location.pathname).route.preload();
  hydrateRoot(
    root,
    <StrictMode>
      <BrowserRouter>
        <App
          api={createHttpApi({ sessionId })}
          client={client}
          siteName={state.siteName}
          renderedAt={state.renderedAt}
        />
      </BrowserRouter>
    </StrictMode>,
  );
  whenIdle(() => {
    // A route that cannot be fetched now is asked for again when it is visited.
    for (const { route } of ROUTES) route.preload().catch(() => {});
  });
}

function whenIdle(run: () => void): void {
  if (typeof window.requestIdleCallback === 'function') window.requestIdleCallback(run);
  else setTimeout(run, 1_000);
}

void start();
