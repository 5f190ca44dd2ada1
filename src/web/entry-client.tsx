import { type ReactNode, StrictMode, startTransition, useEffect } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import * as paths from '../contract/paths.ts';
import { matchRoute, withLanguage } from '../contract/routes.ts';
import { createHttpApi, hasUnfinishedWrite, predatesWrite } from './api/http-api.ts';
import { App, SCREENS } from './app.tsx';
import {
  createQueryClient,
  isRestoredDocument,
  type PageState,
  refetchWhenRestored,
  restorePageState,
} from './cache/query-client.ts';
import { countEarlyVote } from './features/upvotes/queries.ts';
import { dateFormat, setLanguage, withoutLanguage } from './language/translate.ts';
import { BrowserRouter } from './routing/router.tsx';
import { cachedAt } from './service-worker/cached-at.ts';
import { sessionId } from './storage/session.ts';
import './styles.css';

async function start(): Promise<void> {
  const root = document.getElementById('root');
  const stateText = document.getElementById('state')?.textContent;
  if (!root || !stateText) throw new Error('The document lacks #root or #state');

  const state = JSON.parse(stateText) as PageState;
  try {
    dateFormat('en', { timeZone: state.site.timeZone });
  } catch {
    // An older browser may not know the site's time zone. In that case, the page shows times in UTC.
    delete state.site.timeZone;
  }
  const client = createQueryClient('browser');
  // If the browser is offline, a document from the offline cache cannot be refetched, so its data counts as fresh.
  const isOutdated = isRestoredDocument() || (cachedAt() !== undefined && navigator.onLine);
  restorePageState(client, state, { fresh: !hasUnfinishedWrite() && !predatesWrite() && !isOutdated });
  refetchWhenRestored(client);
  const language = languageOf(state);
  // Loads the code and the messages of this page first, so the screen does not suspend while it hydrates.
  const catalogue = language?.script && import(/* @vite-ignore */ language.script).catch(() => {});
  const screen = await SCREENS[matchRoute(window.location.pathname, window.location.search).name]
    .preload()
    // On an interrupted network, the code may fail to load. In that case, the next click tries again.
    .catch(() => addEventListener('click', start, { once: true }));
  if (!screen) return;
  const messages = (await catalogue)?.default.messages;
  // If the messages cannot be loaded, for example offline, the page is in English.
  const isUntranslated = catalogue && !messages;
  if (isUntranslated) describeDocument({ tag: 'en' });
  if (language) setLanguage(isUntranslated ? { locale: 'en-US', param: language.param } : { ...language, messages });
  // Stops recording clicks, because React now hydrates each part of the page as soon as it is clicked.
  const clicks = window.takeEarlyClicks?.() ?? [];
  const sent = new Map<string, Promise<Response>>();
  for (const { button, response } of clicks) {
    const { product = '' } = button.dataset;
    if (!response) continue;
    sent.set(paths.api.upvote(product), response);
    countEarlyVote(client, product);
  }
  // Hydrates in a transition, which runs in slices, so the browser can respond to scrolling and typing in between. In
  // one piece, hydration would block a slow phone.
  startTransition(() => {
    const app = (
      <StrictMode>
        <BrowserRouter>
          <EarlyClicks clicks={clicks}>
            <App
              api={createHttpApi({ sessionId, sentUpvotes: sent })}
              client={client}
              site={state.site}
              renderedAt={state.renderedAt}
            />
          </EarlyClicks>
        </BrowserRouter>
      </StrictMode>
    );
    // The offline shell, which replaces pages that are not cached, has an empty #root. Translated HTML cannot be
    // hydrated in English.
    if (root.hasChildNodes() && !isUntranslated) hydrateRoot(root, app);
    else createRoot(root).render(app);
  });
  for (const type of ['pointerover', 'focusin'] as const) {
    document.addEventListener(type, preloadLinkedRoute);
  }
}

/**
 * Returns the language of the page. The offline shell serves all languages, so its language depends on the URL, and
 * this function sets the document's `lang` and `dir`.
 */
function languageOf({ language, languages }: PageState): PageState['language'] {
  const named = languages?.[new URLSearchParams(window.location.search).get('lang') ?? ''];
  if (!named) return language;
  describeDocument(named);
  return named;
}

/** Sets the language of the document, for screen readers, and its direction. */
function describeDocument({ tag, dir = 'ltr' }: { tag: string; dir?: 'rtl' | 'ltr' | undefined }): void {
  Object.assign(document.documentElement, { lang: tag, dir });
}

/**
 * Loads the code of a page when the pointer or the focus reaches a link to that page. Earlier loading would waste data,
 * because most visitors open only one page.
 */
function preloadLinkedRoute({ target }: Event): void {
  const link = target instanceof Element ? target.closest('a') : null;
  if (!link || link.origin !== window.location.origin) return;
  // The links to other languages are outside the app, so this code makes them lead to the current page.
  if (link.hreflang) {
    const { pathname, search, hash } = window.location;
    link.href = withLanguage(pathname + withoutLanguage(search) + hash, new URLSearchParams(link.search).get('lang'));
  }
  // If the preload fails, the navigation itself loads the code again.
  SCREENS[matchRoute(link.pathname, link.search).name].preload().catch(() => {});
}

void start();

declare global {
  /** A click on a button before hydration, recorded by the head script. */
  interface EarlyClick {
    button: HTMLElement;
    /** The response to the upvote, if the head script showed and sent one. */
    response: Promise<Response> | undefined;
  }

  interface Window {
    /** Set by the head script: ends the recording and returns the clicks so far, oldest first. */
    takeEarlyClicks?: () => EarlyClick[];
  }
}

/** Replays the clicks that were made before hydration, once event handlers are attached. */
function EarlyClicks({ clicks, children }: { clicks: readonly EarlyClick[]; children: ReactNode }) {
  useEffect(() => {
    // Waits until after the commit, because React cannot hydrate the clicked part of the page during a commit.
    const timer = setTimeout(() => {
      for (const { button } of clicks) {
        if (button.isConnected) button.click();
      }
    });
    return () => clearTimeout(timer);
  }, [clicks]);
  return children;
}
