import { QueryCache, QueryClient } from '@tanstack/react-query';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** How a read that failed for good is logged; the specification fixes the text, which is the error's message. */
      logFailureAs?: 'error' | 'warn';
    };
  }
}

/** Failures are not logged on the server: the page reports a failed read, and the caller logs why. */
export function createQueryClient(side: 'browser' | 'server'): QueryClient {
  const logged = new WeakSet<Error>();
  return new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        const level = query.meta?.logFailureAs;
        // One failed request may fail many queries.
        if (side === 'server' || !level || logged.has(error)) return;
        logged.add(error);
        if (level === 'error') console.error(error.message);
        else console.warn(error.message);
      },
    }),
    defaultOptions: {
      queries: {
        // Offline, a request fails with a message instead of waiting silently.
        networkMode: 'always',
        ...(side === 'server' ? { gcTime: Number.POSITIVE_INFINITY } : {}),
      },
      mutations: { networkMode: 'always' },
    },
  });
}
