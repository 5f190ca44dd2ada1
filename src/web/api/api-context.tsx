import { createContext } from 'react';
import type { Api, ReadApi } from '../../contract/api.ts';
import { useProvided } from '../ui/use-provided.ts';

/** The API client of the app, which also tracks the time of this page's last write. */
export interface AppApi extends Api {
  /** Milliseconds since this page's last write completed: 0 while one is pending, `Infinity` if there was none. */
  msSinceLastWrite: () => number;
}

const ApiContext = createContext<AppApi | null>(null);

export const ApiProvider = ApiContext.Provider;

export function useApi(): AppApi {
  return useProvided(ApiContext);
}

/** Returns an API for rendering on the server. Per-visitor requests and writes reject, because there is no visitor. */
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
