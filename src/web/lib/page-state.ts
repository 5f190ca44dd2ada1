import { type DehydratedState, dehydrate, hydrate, type QueryClient } from '@tanstack/react-query';

/** What the server knew when it rendered a page; the browser starts from it. */
export interface PageState {
  siteName: string;
  /** Milliseconds since 1970. */
  renderedAt: number;
  queries: DehydratedState;
}

/** JSON that is safe inside a `<script>` element. */
export function writePageState(client: QueryClient, siteName: string, renderedAt: number): string {
  const queries = dehydrate(client, { shouldDehydrateQuery: (query) => query.state.status !== 'pending' });
  for (const { state } of queries.queries) {
    // A reason is for the server's log; the page only has to know that the read failed.
    if (state.error) state.error = { message: 'unavailable' } as Error;
    state.fetchFailureReason = null;
  }
  const state: PageState = { siteName, renderedAt, queries };
  return JSON.stringify(state).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function restorePageState(client: QueryClient, state: PageState): void {
  const now = Date.now();
  // A page may have been rendered hours ago and be right: the server drops it from its cache when something changes.
  for (const query of state.queries.queries) {
    if (query.state.status === 'success') query.state.dataUpdatedAt = now;
  }
  hydrate(client, state.queries);
}
