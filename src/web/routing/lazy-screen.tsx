import { type ComponentType, use } from 'react';

export interface LazyScreen {
  /** Resolves after the code has loaded. Screens rendered after that never suspend. */
  preload: () => Promise<ComponentType>;
  /** Loads the code of a screen that is being rendered. Always returns the same promise, which never rejects. */
  open: () => Promise<ComponentType>;
  loaded: () => ComponentType | undefined;
}

/**
 * A screen whose code loads on demand. `React.lazy` suspends on its first render even when its module is loaded:
 * `renderToString` would then send the fallback, and hydration would be deferred.
 */
export function lazyScreen(load: () => Promise<ComponentType>): LazyScreen {
  let loaded: ComponentType | undefined;
  let loading: Promise<ComponentType> | undefined;
  let opening: Promise<ComponentType> | undefined;

  // A later call loads the code again, in case that loading failed.
  const preload = () =>
    (loading ??= load()
      .then((component) => (loaded = component))
      .finally(() => (loading = undefined)));

  return { preload, open: () => (opening ??= preload().catch(reloadPage)), loaded: () => loaded };
}

/** Loads the page at the current URL from the server, because a newer version of the site may have replaced the code. */
function reloadPage(): Promise<never> {
  window.location.reload();
  return new Promise(() => {});
}

/**
 * Creates a part of a page. The server's HTML, or the fallback of `Suspense` if there is none, stays in place until the
 * code has loaded. If loading fails, each click and each visit tries again.
 */
export function lazyPart(load: () => Promise<ComponentType>): LazyScreen {
  const nextVisit = () =>
    new Promise((resolve) => {
      addEventListener('click', resolve, { once: true });
      addEventListener('popstate', resolve, { once: true });
    });
  const retry = (): Promise<ComponentType> => load().catch(() => nextVisit().then(retry));
  return lazyScreen(retry);
}

/** Renders a screen, and suspends while its code loads. */
export function ScreenView({ screen }: { screen: LazyScreen }) {
  const Loaded = screen.loaded() ?? use(screen.open());
  return <Loaded />;
}
