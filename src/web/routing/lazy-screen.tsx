import { type ComponentType, use } from 'react';

export interface LazyScreen {
  /** Resolves once the code is loaded. A screen that is rendered after that never suspends. */
  preload: () => Promise<void>;
  loaded: () => ComponentType | undefined;
}

/**
 * A screen whose code loads on demand. `React.lazy` suspends once even when its module is loaded, which `renderToString` and
 * hydration cannot wait for.
 */
export function lazyScreen(load: () => Promise<ComponentType>): LazyScreen {
  let loaded: ComponentType | undefined;
  let loading: Promise<void> | undefined;

  function preload(): Promise<void> {
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      (error: unknown) => {
        // The next visit tries again.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }

  return { preload, loaded: () => loaded };
}

/** A part of a page. Until its code is loaded, and forever if the network is lost, the server's rendering stays. */
export function lazyPart(load: () => Promise<ComponentType>): LazyScreen {
  return lazyScreen(() => load().catch(() => new Promise(() => {})));
}

/** Shows a screen, and suspends while its code loads. */
export function ScreenView({ screen }: { screen: LazyScreen }) {
  if (!screen.loaded()) use(screen.preload());
  const Loaded = screen.loaded();
  return Loaded ? <Loaded /> : null;
}
