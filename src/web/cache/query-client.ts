import { type DehydratedState, dehydrate, QueryCache, QueryClient } from '@tanstack/react-query';
import type { Site } from '../../contract/site.ts';
import type { Language } from '../language/translate.ts';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /**
       * The log level for a read that failed after all retries. The log line is the error's message. If unset, failures
       * are not logged.
       */
      logFailureAs?: 'error' | 'warn';
    };
  }
}

/** Creates a query client. On the server, it logs no failures, because the caller of `render` logs them. */
export function createQueryClient(side: 'browser' | 'server'): QueryClient {
  const logged = new WeakSet<Error>();
  return new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        const level = query.meta?.logFailureAs;
        // Queries that share one request fail with the same error, which is logged once.
        if (side === 'server' || !level || logged.has(error)) return;
        logged.add(error);
        if (level === 'error') console.error(error.message);
        else console.warn(error.message);
      },
    }),
    defaultOptions: {
      queries: {
        // While the browser is offline, requests fail with a message. The default mode would make them wait silently.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** The language settings for the browser. `script` is the URL of the module with the messages. */
type StateLanguage = Pick<Language, 'locale' | 'param' | 'dir'> & { script?: string | undefined };

/** The state with which the server rendered a page. The browser starts from it. */
export interface PageState {
  site: Site;
  /** Milliseconds since 1970. */
  renderedAt: number;
  /** If unset, the page is in English. */
  language?: StateLanguage;
  /** All languages, by the value of `lang` in URLs. Present only in the offline shell, which serves all languages. */
  languages?: Readonly<Record<string, StateLanguage & { tag: string }>>;
  queries: DehydratedState;
}

/** Serializes the state as JSON that is safe inside a `<script>` element. */
export function writePageState(client: QueryClient, known: Omit<PageState, 'queries'>): string {
  const queries = dehydrate(client, { shouldDehydrateQuery: (query) => query.state.status !== 'pending' });
  for (const { state } of queries.queries) {
    // The browser needs to know only that the read failed. The server logs the reason.
    if (state.error) state.error = { message: 'unavailable' } as Error;
    state.fetchFailureReason = null;
  }
  const state: PageState = { ...known, queries };
  return scriptJson(state);
}

/**
 * Restores the server's data. `fresh` data counts as current even if it was rendered hours ago, because the server
 * invalidates a cached page when its data changes. Other data is shown and refetched immediately.
 */
export function restorePageState(client: QueryClient, state: PageState, { fresh }: { fresh: boolean }): void {
  const updatedAt = fresh ? Date.now() : 0;
  for (const { queryKey, queryHash, meta = {}, queryType: _type, state: read } of state.queries.queries) {
    if (read.status === 'success') read.dataUpdatedAt = updatedAt;
    // Replaces the library's `hydrate`, which also restores what this state never contains, such as pending queries.
    client.getQueryCache().build(client, { queryKey, queryHash, meta, ...(_type && { _type }) }, read);
  }
}

/**
 * Returns whether a back/forward navigation loaded this document. If so, the browser may have restored the document
 * from its HTTP cache, and the document may predate the visitor's own actions.
 */
export function isRestoredDocument(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'back_forward';
}

/**
 * Invalidates all data when the page returns from the back/forward cache, because a page receives no updates there.
 */
export function refetchWhenRestored(client: QueryClient): void {
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) void client.invalidateQueries();
  });
}

/**
 * Serializes a value as JSON that is safe inside a `<script>` element, even if it contains text that visitors wrote.
 */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
