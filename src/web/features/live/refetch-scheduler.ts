import { coalesce, jitter } from './timing.ts';

/**
 * The mean delay of a refetch. All open pages learn of a change simultaneously, but should not all refetch
 * simultaneously.
 */
const REFETCH_DELAY_MS = 1_500;

/** The minimum time between two refetches. An import changes the catalogue many times in quick succession. */
const MIN_REFETCH_INTERVAL_MS = 5_000;

/** Returns a function that schedules a refetch. Several calls cause one refetch, after a random delay. */
export function createRefetchScheduler(refetch: () => Promise<void>): () => void {
  let notBefore = 0;
  return coalesce(
    () => {
      notBefore = performance.now() + MIN_REFETCH_INTERVAL_MS;
      // A failure is ignored, because the next change or stream requests another refetch.
      void refetch().catch(() => {});
    },
    () => Math.max(jitter(REFETCH_DELAY_MS), notBefore - performance.now()),
  );
}
