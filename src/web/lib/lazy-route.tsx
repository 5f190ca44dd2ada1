import { type ComponentType, use } from 'react';

export interface LazyRoute {
  Component: ComponentType;
  /** Resolves once the route's code is there; rendered after that, it never suspends. */
  preload: () => Promise<void>;
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

  function Component() {
    if (!loaded) use(preload());
    return loaded ? <LoadedRoute route={loaded} /> : null;
  }

  return { Component, preload };
}

function LoadedRoute({ route: Route }: { route: ComponentType }) {
  return <Route />;
}
