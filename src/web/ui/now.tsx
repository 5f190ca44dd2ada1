import { createContext, type ReactNode, startTransition, useContext, useEffect, useState } from 'react';

const TICK_MS = 60_000;
const NowContext = createContext(0);

/**
 * The time from which "5 minutes ago" is counted. It starts as the time at which the server rendered the page, which
 * may be hours ago in a cached page: the first render must repeat the server's text.
 */
export function NowProvider({ renderedAt, children }: { renderedAt: number; children: ReactNode }) {
  const [now, setNow] = useState(renderedAt);
  useEffect(() => {
    // Never urgent: an urgent update would hydrate the whole screen in one piece, since it is the context of all of
    // it.
    const tick = () => startTransition(() => setNow(Date.now()));
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <NowContext value={now}>{children}</NowContext>;
}

export function useNow(): number {
  return useContext(NowContext);
}
