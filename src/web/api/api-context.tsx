import { createContext } from 'react';
import type { Api, ReadApi } from '../../contract/api.ts';
import { useProvided } from '../ui/use-provided.ts';

/** The app's API client. It also tracks when this page's last write completed. */
export interface AppApi extends Api {
  /** Milliseconds since this page's last write completed: 0 while one is pending, `Infinity` if there was none. */
  msSinceLastWrite: () => number;
}

const ApiContext = createContext<AppApi | null>(null);

export const ApiProvider = ApiContext.Provider;

export function useApi(): AppApi {
  return useProvided(ApiContext);
}

/**
 * Returns an API for server rendering. Per-visitor requests and writes reject, because the server does not know the
 * visitor.
 */
export function readOnlyApi(api: ReadApi): AppApi {
  const refuse = () =>
    Promise.reject(
      new Error(
        'Per-visitor requests and writes are not available during server rendering. Make them in an effect or event handler.',
      ),
    );
  return {
    ...api,
    getUpvoted: refuse,
    listHeldComments: refuse,
    setUpvote: refuse,
    addComment: refuse,
    likeComment: refuse,
    msSinceLastWrite: () => Number.POSITIVE_INFINITY,
  };
}
