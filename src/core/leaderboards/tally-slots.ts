import { CoreError } from '../core-error.ts';
import { createSemaphore, type Slots } from '../semaphore.ts';

/** Tallies that one process reads at a time: each holds a connection and a snapshot of the database. */
const MAX_TALLIES = 3;

/** The share of a pool's connections that tallies may hold, since other requests need the rest. */
const MAX_SHARE = 1 / 3;

/** How long a reader waits for another tally to end. */
const WAIT_MS = 5_000;

/** Runs reads of tallies: a few at a time, and one of each reader, so a slow reader does not keep out the others. */
export interface TallySlots {
  /**
   * @param reader identifies a network; unset: not limited.
   * @throws CoreError `overloaded`, or the errors of `work`.
   */
  run<Result>(reader: string | undefined, work: () => Promise<Result>): Promise<Result>;
}

export function createTallySlots(maxConnections: number, waitMs = WAIT_MS): TallySlots {
  const all = createSemaphore(Math.max(1, Math.min(MAX_TALLIES, Math.floor(maxConnections * MAX_SHARE))));
  const readers = new Map<string, { slots: Slots; requests: number }>();

  async function runIn<Result>(slots: Slots, work: () => Promise<Result>): Promise<Result> {
    const release = await slots.take(waitMs);
    if (release === undefined) {
      throw new CoreError('overloaded', 'Too many tallies are being read right now. Please try again in a moment.');
    }
    return work().finally(release);
  }

  return {
    async run(reader, work) {
      if (reader === undefined) return runIn(all, work);
      const own = readers.get(reader) ?? { slots: createSemaphore(1), requests: 0 };
      own.requests += 1;
      readers.set(reader, own);
      try {
        return await runIn(own.slots, () => runIn(all, work));
      } finally {
        own.requests -= 1;
        if (own.requests === 0) readers.delete(reader);
      }
    },
  };
}
