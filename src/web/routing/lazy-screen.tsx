import { type ComponentType, use } from 'react';
import { useLocation } from './router.tsx';

export interface LazyScreen {
  /**
   * Resolves after the code has loaded. Screens rendered after that never suspend. A call with another `visit` than the
   * previous one loads the code again, in case that loading failed.
   */
  preload: (visit?: object) => Promise<void>;
  loaded: () => ComponentType | undefined;
}

/**
 * A screen whose code loads on demand. `React.lazy` suspends on its first render even when its module is loaded:
 * `renderToString` would then send the fallback, and hydration would be deferred.
 */
export function lazyScreen(load: () => Promise<ComponentType>): LazyScreen {
  let loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;
  let visited: object | undefined;

  function preload(visit?: object): Promise<void> {
    // React renders a screen again after it fails, which must not load the code again.
    if (visit !== visited) loading = undefined;
    visited = visit;
    loading ??= load().then((component) => {
      loaded = component;
    });
    return loading;
  }

  return { preload, loaded: () => loaded };
}

/**
 * Creates a part of a page. The server's HTML, or the fallback of `Suspense` if there is none, stays in place until the
 * code has loaded. If loading fails, each click tries again.
 */
export function lazyPart(load: () => Promise<ComponentType>): LazyScreen {
  const retry = (): Promise<ComponentType> =>
    load().catch(() => new Promise((click) => document.addEventListener('click', click, { once: true })).then(retry));
  return lazyScreen(retry);
}

/** Renders a screen, and suspends while its code loads. */
export function ScreenView({ screen }: { screen: LazyScreen }) {
  const location = useLocation();
  if (!screen.loaded()) use(screen.preload(location));
  const Loaded = screen.loaded();
  return Loaded ? <Loaded /> : null;
}
