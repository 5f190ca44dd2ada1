/** Limits the number of concurrent operations. Further ones wait in the order of arrival. */
export interface Slots {
  /** Takes a slot. @returns a function that releases it, or undefined if none became free within `timeoutMs`. */
  take(timeoutMs: number): Promise<(() => void) | undefined>;
}

export function createSemaphore(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    take(timeoutMs) {
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
