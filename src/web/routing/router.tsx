import { createContext, type ReactNode, startTransition, useCallback, useEffect, useMemo, useState } from 'react';
import { matchRoute } from '../../contract/routes.ts';
import { localAddress, withoutLanguage } from '../language/translate.ts';
import { useProvided } from '../ui/use-provided.ts';

/** One entry of the browser's history. */
export interface Location {
  pathname: string;
  /** Begins with a question mark, or is empty. Does not contain the language, because no screen needs it. */
  search: string;
  /** Begins with a number sign, or is empty. */
  hash: string;
  /** State passed with the navigation, e.g. the scroll target. */
  state: unknown;
  /** Identifies the history entry, even after a reload. */
  key: string;
}

interface NavigateOptions {
  replace?: boolean;
  state?: unknown;
}

interface Router {
  location: Location;
  /** How the location was reached. If the browser itself navigated to a fragment, the type is PUSH. */
  type: 'LOAD' | 'POP' | 'PUSH' | 'REPLACE';
  /** Navigates to a path of this site. Navigating to the current URL replaces its history entry, as links do. */
  navigate: (to: string, options?: NavigateOptions) => void;
}

const RouterContext = createContext<Router | null>(null);

export function useRouter(): Router {
  return useProvided(RouterContext);
}

export function useLocation(): Location {
  return useRouter().location;
}

/**
 * Returns whether the visitor has navigated within the site since the document loaded. A changed search counts as well.
 */
export function useHasNavigated(): boolean {
  return useRouter().type !== 'LOAD';
}

export function useSearchParams(): URLSearchParams {
  const { search } = useLocation();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/**
 * Follows the browser's history. Every change of URL is a transition: the old screen stays until the new one is ready.
 */
export function BrowserRouter({ children }: { children: ReactNode }) {
  const [current, setCurrent] = useState(() => currentEntry('LOAD'));
  const show = useCallback((next: Router['type']) => {
    startTransition(() => setCurrent(currentEntry(next)));
  }, []);

  const navigate = useCallback<Router['navigate']>(
    (to, { replace, state = null } = {}) => {
      const entry = { key: newKey(), state };
      const address = localAddress(to);
      // Compares with the browser's location, because a second click may come before the new page is on screen.
      const { pathname, search, hash } = window.location;
      replace ??= address === pathname + search + hash;
      try {
        if (replace) window.history.replaceState(entry, '', address);
        else window.history.pushState(entry, '', address);
      } catch {
        // Safari limits history changes to 100 in 10 seconds, so a document is loaded instead.
        window.location.assign(address);
        return;
      }
      show(replace ? 'REPLACE' : 'PUSH');
    },
    [show],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, after the first render
  useEffect(() => {
    // A fragment that was typed into the address bar, or the skip link, adds a history entry without a state.
    const onPopState = () => show(window.history.state ? 'POP' : 'PUSH');
    window.addEventListener('popstate', onPopState);
    // The visitor may have gone back during hydration.
    if (window.history.state?.key !== current.location.key) onPopState();
    return () => window.removeEventListener('popstate', onPopState);
  }, [show]);

  const router = useMemo(() => ({ ...current, navigate }), [current, navigate]);
  return <RouterContext value={router}>{children}</RouterContext>;
}

function currentEntry(type: Router['type']): Omit<Router, 'navigate'> {
  const { pathname, hash } = window.location;
  const search = withoutLanguage(window.location.search);
  const { key, state = null } = (window.history.state ?? {}) as { key?: string; state?: unknown };
  if (key !== undefined) return { location: { pathname, search, hash, state, key }, type };
  // The entries of a new document and of a typed fragment have no key. Without keys, all such entries would share one
  // scroll position.
  window.history.replaceState({ key: newKey(), state }, '');
  return currentEntry(type);
}

function newKey(): string {
  return Math.random().toString(36).slice(2, 10);
}

/** Renders one URL on the server. `url` is a path and query. */
export function StaticRouter({ url, children }: { url: string; children: ReactNode }) {
  const { pathname, search } = new URL(url, 'http://page.invalid');
  const router: Router = {
    location: { pathname, search: withoutLanguage(search), hash: '', state: null, key: 'default' },
    type: 'LOAD',
    navigate() {
      throw new Error('Cannot navigate during server rendering. Navigate in an effect or event handler.');
    },
  };
  return <RouterContext value={router}>{children}</RouterContext>;
}

/** Returns the id in the URL of a product's page, or an empty string on other pages. */
export function useProductId(): string {
  const route = matchRoute(useLocation().pathname);
  return route.name === 'product' ? route.id : '';
}
