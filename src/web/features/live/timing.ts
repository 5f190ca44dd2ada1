/** Returns a random time from 0.5 to 1.5 times `ms`, so many browsers do not act simultaneously. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}

/** Returns a function that runs `task` after a delay (default: 0). Until then, further calls have no effect. */
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

/**
 * The mean delay of a refetch. All open pages learn of a change simultaneously, but should not all refetch
 * simultaneously.
 */
const REFETCH_DELAY_MS = 1_500;

/** The minimum time between two refetches, because an import changes the catalogue many times in quick succession. */
const MIN_REFETCH_INTERVAL_MS = 5_000;

/** Returns a function that schedules a refetch. Several calls cause one refetch, after a random delay. */
export function createRefetchScheduler(refetch: () => Promise<void>): () => void {
  let notBefore = 0;
  return coalesce(
    () => {
      notBefore = performance.now() + MIN_REFETCH_INTERVAL_MS;
      // Ignores a failure, because the next change or the next stream requests another refetch.
      void refetch().catch(() => {});
    },
    () => Math.max(jitter(REFETCH_DELAY_MS), notBefore - performance.now()),
  );
}
