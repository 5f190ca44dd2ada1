import { createContext, type ReactNode, type RefObject, useContext, useEffect, useLayoutEffect, useRef } from 'react';
import { createBrowserStore } from '../storage/browser-store.ts';
import { isTyping } from '../ui/focus.ts';
import { type Location, useHasNavigated, useRouter } from './router.tsx';

/** The most recently visited list, to which 'Back to products' leads. */
interface ListLocation {
  href: string;
  /** The history entry whose scroll position is restored. */
  key: string;
}

const LastListContext = createContext<RefObject<ListLocation | null>>({ current: null });

/** Returns a ref to the most recently visited list: `null` if there is none, or if a leaderboard was visited since. */
export function useLastList(): RefObject<ListLocation | null> {
  return useContext(LastListContext);
}

/**
 * Returns options for the main query of a page. If the server could not read the data, the page shows the error until
 * the visitor retries. After a navigation within the site, a query that failed earlier is retried.
 */
export function useRetryOnMount(): { retryOnMount: boolean } {
  return { retryOnMount: useHasNavigated() };
}

export function NavigationProvider({ children }: { children: ReactNode }) {
  useScrollPositions();
  const lastList = useRef<ListLocation | null>(null);
  return <LastListContext value={lastList}>{children}</LastListContext>;
}

/** The scroll position of each history entry, in CSS pixels, by the entry's key. */
type Positions = Record<string, number>;

/** The scroll positions in this tab. Without storage, a reload starts at the top. */
const stored = createBrowserStore('scroll_positions', (value) => value as Positions | undefined, 'sessionStorage');

/**
 * Restores the scroll position after a reload, after back/forward navigation and after 'Back to products'. Other
 * navigation scrolls to the top, except to a fragment or a replaced URL (e.g. a refined search) of the same page.
 */
function useScrollPositions(): void {
  const { location, type } = useRouter();
  const positions = useRef<Positions>({});
  const current = useRef(location);

  useEffect(() => {
    window.history.scrollRestoration = 'manual';
    const start = stored.read()?.[current.current.key];
    // Does not scroll if the page has already been scrolled (to a fragment or, while the scripts were loading, by the
    // visitor), or if the visitor is typing.
    if (start && !window.scrollY && !isTyping()) scrollDownTo(start);

    const recordPosition = () => {
      positions.current[current.current.key] = window.scrollY;
    };
    const save = () => {
      // Records the position again, because the browser fires no scroll event if the page scrolls and is left in the
      // same frame.
      recordPosition();
      stored.write({ ...stored.read(), ...positions.current });
    };
    // The listeners are never removed, because the provider stays mounted for the lifetime of the page.
    window.addEventListener('scroll', recordPosition);
    // The browser may discard a hidden tab and reload it later without firing another event.
    window.addEventListener('visibilitychange', save);
  }, []);

  // Uses a layout effect, so scrolling happens before the paint.
  useLayoutEffect(() => {
    const previous = current.current;
    if (previous === location) return;
    current.current = location;
    const top = scrollTargetOf(location, previous, type, { ...stored.read(), ...positions.current });
    if (top !== null) scrollDownTo(top);
  }, [location, type]);
}

function scrollDownTo(top: number): void {
  window.scrollTo({ top, behavior: 'instant' });
  const reached = window.scrollY;
  // The page may end above the position, for example because a list has only its first page or is still loading.
  if (reached < top - 1) {
    import('./scroll-on.ts').then(
      (module) => module.scrollOn(top, reached),
      () => {},
    );
  }
}

function scrollTargetOf(location: Location, previous: Location, type: string, positions: Positions): number | null {
  const returnTo = type === 'POP' ? location.key : (location.state as { returnTo?: string } | null)?.returnTo;
  if (returnTo !== undefined) return positions[returnTo] ?? 0;
  if (location.pathname !== previous.pathname) return 0;
  // A link to the current URL also replaces the history entry, but scrolls to the top.
  const changed = location.search + location.hash !== previous.search + previous.hash;
  return location.hash || (type === 'REPLACE' && changed) ? null : 0;
}
