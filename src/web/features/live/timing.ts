/** Returns a random time from 0.5 to 1.5 times `ms`, so many browsers do not act simultaneously. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}

/**
 * Returns a function that runs `task` after a delay, which is 0 by default. Further calls before then have no effect.
 */
export function coalesce(task: () => void, delayMs: () => number = () => 0): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      task();
    }, delayMs());
  };
}
