import { createContext, useContext } from 'react';
import type { Api, ReadApi } from '../../contract/api.ts';

/** The API client of the app, which also tracks the time of this page's last write. */
export interface AppApi extends Api {
  /** Milliseconds since this page's last write completed: 0 while one is pending, `Infinity` if there was none. */
  msSinceLastWrite: () => number;
}

const ApiContext = createContext<AppApi | null>(null);

export const ApiProvider = ApiContext.Provider;

export function useApi(): AppApi {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi must be used within an ApiProvider');
  return api;
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
