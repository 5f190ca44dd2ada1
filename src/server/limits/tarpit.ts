import { setTimeout as sleep } from 'node:timers/promises';
import { createNetworkKeys } from './network-keys.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Keeps those waiting who go on asking although they are refused. */
export interface Tarpit {
  /** Resolves at once for a network with few refusals, after a while for one with many. */
  hold(address: string | undefined): Promise<void>;
}

/** As many refusals of one network are answered at once: an office whose votes came together, or a script that counts. */
const PATIENCE = { amount: 300, seconds: 60 };
const HOLD_MS = 1_000;
/** Beyond, they are answered at once again: who waits costs memory. */
const MAX_HELD = 2_000;

/**
 * A refusal is cheap, and a client that asks again at once gets it over and over, for as much of the processor as it has
 * connections. Answered a second late, a hundred connections ask a hundred times a second instead of thousands.
 */
export function createTarpit(now: () => number, holdMs = HOLD_MS): Tarpit {
  const networkKeys = createNetworkKeys(now);
  const patience = createTokenBuckets({ ...PATIENCE, now });
  let held = 0;
  return {
    async hold(address) {
      if (patience.take(networkKeys(address).current) || held >= MAX_HELD) return;
      held += 1;
      await sleep(holdMs);
      held -= 1;
    },
  };
}
