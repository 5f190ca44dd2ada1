import { type ComponentType, type ReactNode, Suspense, use } from 'react';

export interface LazyScreen<Props = object> {
  /** Resolves after the code has loaded. Screens rendered after that never suspend. */
  preload: () => Promise<ComponentType<Props>>;
  /** Loads the code of a screen that is being rendered. Always returns the same promise, which never rejects. */
  open: () => Promise<ComponentType<Props>>;
  loaded: () => ComponentType<Props> | undefined;
}

/**
 * Creates a screen whose code loads on demand. `React.lazy` suspends on its first render even when its module is
 * loaded: `renderToString` would then send the fallback, and hydration would be deferred.
 */
export function lazyScreen<Props = object>(load: () => Promise<ComponentType<Props>>): LazyScreen<Props> {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<ComponentType<Props>> | undefined;
  let opening: Promise<ComponentType<Props>> | undefined;

  // After a failure, the next call tries again.
  const preload = () =>
    (loading ??= load()
      .then((component) => (loaded = component))
      .finally(() => (loading = undefined)));

  return { preload, open: () => (opening ??= preload().catch(reloadPage)), loaded: () => loaded };
}

/** Reloads the page from the server, because a newer version of the site may have replaced the code. */
function reloadPage(): Promise<never> {
  window.location.reload();
  return new Promise(() => {});
}

/**
 * Creates a part of a page whose code loads on demand. Until the code has loaded, the page shows the server's HTML or,
 * without it, the fallback of `PartView`.
 */
export function lazyPart<Props = object>(load: () => Promise<ComponentType<Props>>): LazyScreen<Props> {
  return lazyScreen(() => loadOnVisit(load));
}

/** Loads code that is not essential for the page. If loading fails, the next click, Back or Forward tries again. */
export function loadOnVisit<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  return load().catch(async () => {
    await new Promise((resolve) => {
      addEventListener('click', resolve, { once: true });
      addEventListener('popstate', resolve, { once: true });
    });
    return loadOnVisit(load);
  });
}

/** Renders a screen, to which it passes the other props. Suspends while the screen's code loads. */
export function ScreenView<Props extends object>({ screen, ...props }: { screen: LazyScreen<Props> } & Props) {
  const Loaded = screen.loaded() ?? use(screen.open());
  return <Loaded {...(props as unknown as Props)} />;
}

interface PartViewProps<Props> {
  part: LazyScreen<Props>;
  /** Shown until the code has loaded, unless the page has the server's HTML. */
  fallback?: ReactNode;
}

/** Renders a part of a page, to which it passes the other props. */
export function PartView<Props extends object>({ part, fallback, ...props }: PartViewProps<Props> & Props) {
  return (
    <Suspense fallback={fallback}>
      <ScreenView screen={part} {...(props as unknown as Props)} />
    </Suspense>
  );
}
