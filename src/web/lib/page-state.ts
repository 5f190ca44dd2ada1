import { type DehydratedState, dehydrate, hydrate, type QueryClient } from '@tanstack/react-query';
import { scriptJson } from './script-json.ts';

/** What the server knew when it rendered a page; the browser starts from it. */
export interface PageState {
  siteName: string;
  /** The origin of absolute links. */
  siteUrl: string;
  /** Milliseconds since 1970. */
  renderedAt: number;
  queries: DehydratedState;
}

/** JSON that is safe inside a `<script>` element. */
export function writePageState(client: QueryClient, site: Omit<PageState, 'queries'>): string {
  const queries = dehydrate(client, { shouldDehydrateQuery: (query) => query.state.status !== 'pending' });
  for (const { state } of queries.queries) {
    // A reason is for the server's log; the page only has to know that the read failed.
    if (state.error) state.error = { message: 'unavailable' } as Error;
    state.fetchFailureReason = null;
  }
  const state: PageState = { ...site, queries };
  return scriptJson(state);
}

/**
 * What is `fresh` may have been rendered hours ago and be right: the server drops a page from its cache when something
 * changes. What is not is shown, and read again at once.
 */
export function restorePageState(client: QueryClient, state: PageState, { fresh }: { fresh: boolean }): void {
  const updatedAt = fresh ? Date.now() : 0;
  for (const query of state.queries.queries) {
    if (query.state.status === 'success') query.state.dataUpdatedAt = updatedAt;
  }
  hydrate(client, state.queries);
}

/** Back and forward show the document that the browser kept, from before whatever the visitor did since. */
export function isKeptDocument(): boolean {
  const [navigation] = performance.getEntriesByType('navigation');
  return navigation instanceof PerformanceNavigationTiming && navigation.type === 'back_forward';
}

/** A page that the browser froze alive and shows again knows nothing of what happened meanwhile. */
export function readAgainWhenThawed(client: QueryClient): void {
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) void client.invalidateQueries();
  });
}
