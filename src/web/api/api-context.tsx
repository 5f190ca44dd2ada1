import { createContext, useContext } from 'react';
import type { Api, ReadApi } from '../../contract/api.ts';

const ApiContext = createContext<Api | null>(null);

export const ApiProvider = ApiContext.Provider;

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi needs an ApiProvider above it');
  return api;
}

/** An API for rendering on the server, where there is no visitor: its personal calls throw. */
export function readOnlyApi(api: ReadApi): Api {
  const refuse = () => Promise.reject(new Error('Personal calls are not available while rendering on the server'));
  return {
    ...api,
    getUpvoted: refuse,
    listHeldComments: refuse,
    setUpvote: refuse,
    addComment: refuse,
    likeComment: refuse,
  };
}
