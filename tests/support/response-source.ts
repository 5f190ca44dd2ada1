import {
  type CacheableResponse,
  type CacheRequest,
  type Dependencies,
  PAGE_FRESHNESS,
} from '../../src/server/cache/cached-response.ts';

/** Creates a source of responses that counts its calls. Its responses can be delayed, fail, or be incomplete. */
export function createResponseSource(
  key: string,
  { freshness = PAGE_FRESHNESS, dependencies = {} as Partial<Dependencies> } = {},
) {
  const state = {
    produced: 0,
    fails: undefined as Error | undefined,
    isIncomplete: false,
    hold: undefined as Promise<void> | undefined,
    request: (notBefore?: number, charge?: CacheRequest['charge']): CacheRequest => ({
      key,
      freshness,
      notBefore,
      ...(charge && { charge }),
      async produce(): Promise<CacheableResponse> {
        state.produced += 1;
        const version = state.produced;
        await state.hold;
        if (state.fails) throw state.fails;
        return {
          status: 200,
          type: 'text/plain',
          cacheControl: 'public',
          body: `${key} version ${version}`,
          isIncomplete: state.isIncomplete,
          dependencies: { products: [key], catalogue: false, allCounts: false, unfinished: false, ...dependencies },
        };
      },
    }),
  };
  return state;
}
