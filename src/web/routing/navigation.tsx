import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { type Location, useLocation, useRouter } from './router.tsx';

/** The most recently visited list or leaderboard, to which 'Back to products' leads. */
interface ListLocation {
  href: string;
  /** The history entry whose scroll position is restored. */
  key: string;
}

const NavigatedContext = createContext(false);
const LastListContext = createContext<RefObject<ListLocation | null>>({ current: null });

/** Holds the most recently visited list or leaderboard, or `null` if none has been visited. */
export function useLastList(): RefObject<ListLocation | null> {
  return useContext(LastListContext);
}

/** Whether the visitor has navigated within the site since the document loaded. A changed search counts as well. */
export function useHasNavigated(): boolean {
  return useContext(NavigatedContext);
}

/**
 * Options for the main query of a page. If the server could not read its data, the page shows the error until the
 * visitor retries. After a navigation within the site, a query that failed earlier is repeated.
 */
export function useRetryOnMount(): { retryOnMount: boolean } {
  return { retryOnMount: useHasNavigated() };
}

export function NavigationProvider({ children }: { children: ReactNode }) {
  const { key } = useLocation();
  const [firstKey] = useState(key);
  const [navigated, setNavigated] = useState(false);
  if (!navigated && key !== firstKey) setNavigated(true);
  useScrollPositions();
  const lastList = useRef<ListLocation | null>(null);
  return (
    <NavigatedContext value={navigated}>
      <LastListContext value={lastList}>{children}</LastListContext>
    </NavigatedContext>
  );
}

const STORAGE_KEY = 'scroll_positions';

/**
 * Restores the scroll position after a reload, after back/forward navigation and after 'Back to products'. Other
 * navigation scrolls to the top, except to a fragment or a replaced URL (e.g. a refined search) of the same page.
 */
function useScrollPositions(): void {
  const { location, type } = useRouter();
  const positions = useRef(new Map<string, number>());
  const current = useRef(location);

  useEffect(() => {
    window.history.scrollRestoration = 'manual';
    const saved = readPositions();
    for (const [key, top] of saved) positions.current.set(key, top);
    const start = positions.current.get(current.current.key);
    if (start !== undefined && !current.current.hash) window.scrollTo(0, start);

    const note = () => positions.current.set(current.current.key, window.scrollY);
    const save = () => {
      // If the visitor leaves a page in the frame in which it scrolls, the browser fires no scroll event.
      note();
      writePositions(positions.current);
    };
    window.addEventListener('scroll', note, { passive: true });
    window.addEventListener('pagehide', save);
    return () => {
      window.removeEventListener('scroll', note);
      window.removeEventListener('pagehide', save);
    };
  }, []);

  // A layout effect, so scrolling happens before the paint.
  useLayoutEffect(() => {
    const previous = current.current;
    if (previous === location) return;
    current.current = location;
    const top = targetOf(location, previous, type, positions.current);
    if (top !== null) window.scrollTo({ top, behavior: 'instant' });
  }, [location, type]);
}

function targetOf(location: Location, previous: Location, type: string, positions: Map<string, number>): number | null {
  const returnTo = type === 'POP' ? location.key : (location.state as { returnTo?: string } | null)?.returnTo;
  if (returnTo !== undefined) return positions.get(returnTo) ?? 0;
  const samePage = location.pathname === previous.pathname;
  if (samePage && (type === 'REPLACE' || location.hash)) return null;
  return 0;
}

function readPositions(): [string, number][] {
  try {
    return Object.entries(JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}') as Record<string, number>);
  } catch {
    return [];
  }
}

function writePositions(positions: Map<string, number>): void {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(positions)));
  } catch {
    // Without storage, a reload starts at the top.
  }
}
