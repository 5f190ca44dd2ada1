const CHECK_INTERVAL_MS = 100;
/** A longer gap between two checks means that the process was suspended or blocked. */
const MAX_GAP_MS = 1_000;

/**
 * Calls `expire` after `ms` milliseconds, unless the returned function is called first. A pause of the process counts
 * as at most one second, so the process can first handle the events that arrived during the pause.
 */
export function startDeadline(ms: number, expire: () => void): () => void {
  let leftMs = ms;
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const gapMs = performance.now() - checkedAt;
    checkedAt += gapMs;
    leftMs -= Math.min(gapMs, MAX_GAP_MS);
    if (leftMs > 0) return;
    clearInterval(timer);
    expire();
  }, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}
