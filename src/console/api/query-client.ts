import { QueryClient } from '@tanstack/react-query';
import type { ConsoleSession } from '../../contract/console/schema.ts';
import { ConsoleError } from './console-api.ts';

/** Live updates refetch changed data. Returning to the tab refetches everything. */
export function createConsoleClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        refetchOnWindowFocus: true,
        // Only requests without a response are retried.
        retry: (failures, error) => failures < 2 && error instanceof ConsoleError && [0, 503].includes(error.status),
      },
    },
  });
}

/** Begins or ends a session in this tab; cached data of another operator is dropped. */
export function switchSession(client: QueryClient, session: ConsoleSession | null): void {
  client.setQueryData(['session'], session);
  client.removeQueries({ predicate: ({ queryKey: [subject] }) => subject !== 'session' });
}
