/** Limits the number of concurrent operations. Further ones wait in the order of arrival. */
export interface Semaphore {
  /** Takes a slot. @returns a function that releases it, or undefined if none became free within `timeoutMs`. */
  acquire(timeoutMs: number): Promise<(() => void) | undefined>;
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
    acquire(timeoutMs) {
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
        waiting.push(turn);
      });
    },
  };
}
