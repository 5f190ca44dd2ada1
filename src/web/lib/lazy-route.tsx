import { type ComponentType, use } from 'react';

export interface LazyRoute {
  /** Resolves once the route's code is there; rendered after that, it never suspends. */
  preload: () => Promise<void>;
  loaded: () => ComponentType | undefined;
}

/**
 * A route whose code comes when it is needed. `React.lazy` suspends once even when its module is loaded, which
 * `renderToString` and hydration cannot wait for; this one renders at once after `preload`.
 */
export function lazyRoute(load: () => Promise<ComponentType>): LazyRoute {
  let loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;

  function preload(): Promise<void> {
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      (error: unknown) => {
        // The next visit asks again: a network that failed once need not fail for ever.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  return { preload, loaded: () => loaded };
}

/** Shows a route, waiting for its code if it must. */
export function RouteView({ route }: { route: LazyRoute }) {
  if (!route.loaded()) use(route.preload());
  const Loaded = route.loaded();
  return Loaded ? <Loaded /> : null;
}
