import { type ComponentType, use } from 'react';
import { useLocation } from './router.tsx';

export interface LazyScreen {
  /**
   * Resolves after the code has loaded. Screens rendered after that never suspend. After a failure, a call loads the
   * code again, unless it has the `visit` of the failed call.
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
  /** The visit for which loading failed, or the error if the call had no visit. */
  let failed: unknown;

  function preload(visit?: object): Promise<void> {
    // React renders a screen again after it fails, which must not load the code again.
    if (failed && failed !== visit) loading = failed = undefined;
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      (error: unknown) => {
        failed = visit ?? error;
        throw error;
      },
    );
    return loading;
  }

  return { preload, loaded: () => loaded };
}

/**
 * Creates a part of a page. The server's HTML, or the fallback of `Suspense` if there is none, stays in place until the
 * code has loaded, and remains if loading fails.
 */
export function lazyPart(load: () => Promise<ComponentType>): LazyScreen {
  return lazyScreen(() => load().catch(() => new Promise(() => {})));
}

/** Renders a screen, and suspends while its code loads. */
export function ScreenView({ screen }: { screen: LazyScreen }) {
  const location = useLocation();
  if (!screen.loaded()) use(screen.preload(location));
  const Loaded = screen.loaded();
  return Loaded ? <Loaded /> : null;
}
