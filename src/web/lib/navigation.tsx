import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type Location, useLocation, useNavigationType } from 'react-router';

const NavigatedContext = createContext(false);

/** Whether this page was reached from another one here, and not by loading the document. */
export function useHasNavigated(): boolean {
  return useContext(NavigatedContext);
}

/**
 * Options for a read that a page is about. What the server could not read stays so on the page that it rendered, until
 * the visitor asks again; a later visit tries anew, even if the read failed while it was only prefetched.
 */
export function useReadOnArrival(): { retryOnMount: boolean } {
  return { retryOnMount: useHasNavigated() };
}

export function NavigationProvider({ children }: { children: ReactNode }) {
  const { key } = useLocation();
  const [firstKey] = useState(key);
  const [navigated, setNavigated] = useState(false);
  if (!navigated && key !== firstKey) setNavigated(true);
  useScrollPositions();
  return <NavigatedContext value={navigated}>{children}</NavigatedContext>;
}

const STORAGE_KEY = 'scroll_positions';

/** React effects that must run before paint do nothing on the server. */
const useBrowserLayoutEffect = typeof window === 'undefined' ? useEffect : useLayoutEffect;

/** Back and forward return to where a page was left; a new page starts at its top; a changed search stays put. */
function useScrollPositions(): void {
  const location = useLocation();
  const type = useNavigationType();
  const positions = useRef(new Map<string, number>());
  const current = useRef(location);

  useEffect(() => {
    window.history.scrollRestoration = 'manual';
    const saved = readPositions();
    for (const [key, top] of saved) positions.current.set(key, top);
    const start = positions.current.get(current.current.key);
    if (start !== undefined && !current.current.hash) window.scrollTo(0, start);

    const note = () => positions.current.set(current.current.key, window.scrollY);
    const save = () => writePositions(positions.current);
    window.addEventListener('scroll', note, { passive: true });
    window.addEventListener('pagehide', save);
    return () => {
      window.removeEventListener('scroll', note);
      window.removeEventListener('pagehide', save);
    };
  }, []);

  useBrowserLayoutEffect(() => {
    const previous = current.current;
    if (previous === location) return;
    current.current = location;
    const top = targetOf(location, previous, type, positions.current);
    if (top !== null) window.scrollTo({ top, behavior: 'instant' });
  }, [location, type]);
}

function targetOf(location: Location, previous: Location, type: string, positions: Map<string, number>): number | null {
  const returnTo = (location.state as { returnTo?: string } | null)?.returnTo;
  if (returnTo !== undefined) return positions.get(returnTo) ?? 0;
  if (type === 'POP') return positions.get(location.key) ?? 0;
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
    // Without storage a reload starts at the top; nothing else is lost.
  }
}
