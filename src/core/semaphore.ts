import { CoreError } from './core-error.ts';

/**
 * Limits the number of concurrent operations. Waiting operations run in the order of arrival, except that urgent ones
 * run first, starting with the newest.
 */
interface Semaphore {
  /** Takes a slot. @returns a function that releases it, or undefined if none became free within `timeoutMs`. */
  acquire(timeoutMs: number, isUrgent?: boolean): Promise<(() => void) | undefined>;
}

export function createSemaphore(count: number): Semaphore {
  let free = count;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    acquire(timeoutMs, isUrgent = false) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(release);
      }
      return new Promise((resolve) => {
        const turn = () => {
          clearTimeout(timer);
          resolve(release);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(turn), 1);
          resolve(undefined);
        }, timeoutMs);
        if (isUrgent) waiting.unshift(turn);
        else waiting.push(turn);
      });
    },
  };
}

/** How long a read waits at each of the two limits for other reads to end. */
const READ_TIMEOUT_MS = 5_000;

/** How long a read may keep its slot while others wait: long enough for a client to read 7.5 MB at 1 Mbit/s. */
const TURN_MS = 60_000;

/** Limits concurrent reads, in total and to one per reader, so slow readers do not block the others. */
export interface ReadLimiter {
  /**
   * Runs `work` when both limits permit it.
   * @param reader identifies the client's network. If unset, only the limit on all reads applies.
   * @param work should end early if the signal aborts, because its turn is over and another read waits for a slot.
   * @throws CoreError `overloaded`, or the errors of `work`.
   */
  run<Result>(reader: string | undefined, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

interface ReadLimits {
  /** Maximum number of reads at a time. */
  max: number;
  /** A plural noun for what is read, such as `tallies`, for the error message. */
  what: string;
  timeoutMs?: number | undefined;
  turnMs?: number | undefined;
}

export function createReadLimiter(limits: ReadLimits): ReadLimiter {
  const { max, what, timeoutMs = READ_TIMEOUT_MS, turnMs = TURN_MS } = limits;
  const all = createSemaphore(max);
  const readers = new Map<string, { semaphore: Semaphore; requests: number }>();
  /** The number of reads that wait for a slot or hold one, not counting aborted reads. */
  let reads = 0;
  /** The reads whose turn is over, the longest overdue first. */
  const overdue = new Set<AbortController>();

  /** Aborts as many overdue reads as there are reads that wait. */
  function abortOverdue(): void {
    for (const read of overdue) {
      if (reads <= max) return;
      overdue.delete(read);
      reads -= 1;
      read.abort();
    }
  }

  async function takeTurn<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const read = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    reads += 1;
    abortOverdue();
    try {
      return await runIn(all, () => {
        timer = setTimeout(() => {
          overdue.add(read);
          abortOverdue();
        }, turnMs).unref();
        return work(read.signal);
      });
    } finally {
      clearTimeout(timer);
      overdue.delete(read);
      if (!read.signal.aborted) reads -= 1;
    }
  }

  async function runIn<Result>(semaphore: Semaphore, work: () => Promise<Result>): Promise<Result> {
    const release = await semaphore.acquire(timeoutMs);
    if (release === undefined) {
      throw new CoreError('overloaded', `Too many ${what} are being read right now. Please try again in a moment.`);
    }
    return work().finally(release);
  }

  return {
    async run(reader, work) {
      if (reader === undefined) return takeTurn(work);
      const own = readers.get(reader) ?? { semaphore: createSemaphore(1), requests: 0 };
      own.requests += 1;
      readers.set(reader, own);
      try {
        return await runIn(own.semaphore, () => takeTurn(work));
      } finally {
        own.requests -= 1;
        if (own.requests === 0) readers.delete(reader);
      }
    },
  };
}
