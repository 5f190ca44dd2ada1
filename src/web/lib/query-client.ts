import { QueryCache, QueryClient } from '@tanstack/react-query';

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: {
      /** How a read that failed for good is logged; the specification fixes the words, which are the error's message. */
      logFailureAs?: 'error' | 'warn';
    };
  }
}

/** On the server nothing is logged here: the page says that a read failed, and the caller logs why. */
export function createQueryClient(side: 'browser' | 'server'): QueryClient {
  const logged = new WeakSet<Error>();
  return new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        const level = query.meta?.logFailureAs;
        // One failed request may be many queries' failure.
        if (side === 'server' || !level || logged.has(error)) return;
        logged.add(error);
        if (level === 'error') console.error(error.message);
        else console.warn(error.message);
      },
    }),
    defaultOptions: {
      queries: {
        // Offline, a request fails and says so instead of waiting without a word.
        networkMode: 'always',
        ...(side === 'server' ? { gcTime: Number.POSITIVE_INFINITY } : {}),
      },
      mutations: { networkMode: 'always' },
    },
  });
}
