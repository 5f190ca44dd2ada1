import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a server knows of its own end. From `begin` on it is not ready and keeps no connection, while it still answers: whoever
 * spreads requests over several servers has to notice before this one takes no more.
 */
export interface Stopping {
  hasBegun(): boolean;
  /** Begins, and resolves after the time that others get to notice. */
  begin(delayMs: number): Promise<void>;
}

export function createStopping(): Stopping {
  let begun = false;
  return {
    hasBegun: () => begun,
    async begin(delayMs) {
      begun = true;
      if (delayMs > 0) await sleep(delayMs);
    },
  };
}
