import { CoreError } from '../../core/core-error.ts';
import type { StreamLimits } from '../../settings/stream-limits.ts';
import { networkPrefix } from '../limits/network-keys.ts';

/** Who may hold a stream open, at most so many at the same time. */
export interface StreamSeats {
  /**
   * @returns how to give the seat back, once.
   * @throws CoreError `rate_limited` where the network holds as many as it may, `overloaded` where the process does.
   */
  take(address: string | undefined): () => void;
  /** How many more streams this network may open; undefined where that is not limited. */
  left(address: string | undefined): number | undefined;
}

/** Networks are known by their prefixes, and only for as long as a stream of theirs is open. */
export function createStreamSeats({ perProcess, perNetwork }: StreamLimits): StreamSeats {
  const byNetwork = new Map<string, number>();
  let taken = 0;

  function left(address: string | undefined): number | undefined {
    return perNetwork === undefined ? undefined : perNetwork - (byNetwork.get(keyOf(address)) ?? 0);
  }

  return {
    left,
    take(address) {
      if (left(address) === 0) {
        throw new CoreError('rate_limited', 'Too many streams are open from this network. Please close one of them.');
      }
      if (taken >= perProcess) {
        throw new CoreError('overloaded', 'Too many streams are open right now. Please try again in a moment.');
      }
      const key = keyOf(address);
      byNetwork.set(key, (byNetwork.get(key) ?? 0) + 1);
      taken += 1;
      return () => {
        const others = (byNetwork.get(key) ?? 1) - 1;
        if (others === 0) byNetwork.delete(key);
        else byNetwork.set(key, others);
        taken -= 1;
      };
    },
  };
}

function keyOf(address: string | undefined): string {
  return Buffer.from(networkPrefix(address)).toString('base64');
}
