export interface FairQueueLimits {
  /** The total number of slots. */
  maxSlots: number;
  maxSlotsPerSender: number;
  /**
   * How long a slot on which `run` has not been called is protected. After this time, `enter` may take the slot if no
   * other is free.
   */
  protectedMs?: number;
}

/** A bounded queue that runs one piece of work at a time and serves senders round-robin. */
export interface FairQueue {
  /**
   * Reserves a slot.
   * @param onLost called if a later `enter` takes the slot, because `run` was not called in time.
   * @returns undefined if no slot is free for this sender.
   */
  enter(sender: string, onLost?: () => void): QueueSlot | undefined;
}

interface QueueSlot {
  /** Runs `work` when its turn comes. @throws the reason of `signal` if `signal` aborts before that. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /** Frees the slot; a second call does nothing. */
  release(): void;
}

export function createFairQueue(
  { maxSlots, maxSlotsPerSender, protectedMs = Number.POSITIVE_INFINITY }: FairQueueLimits,
  monotonicMs: () => number = () => performance.now(),
): FairQueue {
  let taken = 0;
  let isRunning = false;
  /** Slots on which `run` has not been called, such as those of pictures that are being received; oldest first. */
  const idle = new Set<{ since: number; reclaim(): void }>();
  const slotsBySender = new Map<string, number>();
  /** Waiting work by sender. The first sender in the map is next. */
  const waiting = new Map<string, (() => void)[]>();

  function waitForTurn(sender: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const turns = waiting.get(sender) ?? [];
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        turns.splice(turns.indexOf(begin), 1);
        if (turns.length === 0) waiting.delete(sender);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      turns.push(begin);
      waiting.set(sender, turns);
    });
  }

  function startNext(): void {
    const [sender, turns] = waiting.entries().next().value ?? [];
    if (sender === undefined || turns === undefined) return;
    const begin = turns.shift();
    // The sender moves to the end of the queue.
    waiting.delete(sender);
    if (turns.length > 0) waiting.set(sender, turns);
    isRunning = true;
    begin?.();
  }

  return {
    enter(sender, onLost) {
      const own = slotsBySender.get(sender) ?? 0;
      if (own >= maxSlotsPerSender) return undefined;
      if (taken >= maxSlots) {
        const [oldest] = idle;
        if (oldest === undefined || monotonicMs() - oldest.since < protectedMs) return undefined;
        oldest.reclaim();
      }
      taken += 1;
      slotsBySender.set(sender, (slotsBySender.get(sender) ?? 0) + 1);
      let isReleased = false;
      function release(): void {
        if (isReleased) return;
        isReleased = true;
        idle.delete(idleSlot);
        taken -= 1;
        const left = (slotsBySender.get(sender) ?? 1) - 1;
        if (left === 0) slotsBySender.delete(sender);
        else slotsBySender.set(sender, left);
      }
      const idleSlot = {
        since: monotonicMs(),
        reclaim() {
          release();
          onLost?.();
        },
      };
      idle.add(idleSlot);
      return {
        async run(work, signal) {
          idle.delete(idleSlot);
          const turn = waitForTurn(sender, signal);
          if (!isRunning) startNext();
          await turn;
          try {
            return await work();
          } finally {
            isRunning = false;
            startNext();
          }
        },
        release,
      };
    },
  };
}
