import { createContext, useContext } from 'react';
import type { Api, ReadApi } from '../../contract/api.ts';

const ApiContext = createContext<Api | null>(null);

export const ApiProvider = ApiContext.Provider;

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (!api) throw new Error('useApi needs an ApiProvider above it');
  return api;
}

/** While rendering on the server nobody is there to vote or write: the personal calls exist and refuse. */
export function readOnlyApi(api: ReadApi): Api {
  const refuse = () => Promise.reject(new Error('Nothing personal is asked for while rendering on the server'));
  return {
    listProducts: (query, signal) => api.listProducts(query, signal),
    getProduct: (id, signal) => api.getProduct(id, signal),
    listComments: (productId, query, signal) => api.listComments(productId, query, signal),
    getUpvoted: refuse,
    listHeldComments: refuse,
    setUpvote: refuse,
    addComment: refuse,
    likeComment: refuse,
  };
}
