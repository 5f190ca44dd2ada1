import { createContext, type ReactNode, startTransition, useContext, useEffect, useState } from 'react';

const TICK_MS = 60_000;
const NowContext = createContext(0);

/**
 * The time that "5 minutes ago" is counted from. It starts as the time at which the server rendered the page,
 * which may lie hours back when the page came from a cache: the first render must repeat the server's text.
 */
export function NowProvider({ renderedAt, children }: { renderedAt: number; children: ReactNode }) {
  const [now, setNow] = useState(renderedAt);
  useEffect(() => {
    // Never urgent. An urgent one would also have the whole screen hydrated for it in one piece, as the context of all of it.
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
