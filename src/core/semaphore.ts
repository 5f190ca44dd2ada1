/** Limits how many run at the same time; others wait in order of arrival. */
export interface Slots {
  /** @returns a function that releases the slot; `undefined`: none was free within `patienceMs`. */
  take(patienceMs: number): Promise<(() => void) | undefined>;
}

export function createSemaphore(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    take(patienceMs) {
      if (free > 0) {
        free -= 1;
        return Promise.resolve(giveBack);
      }
      return new Promise((resolve) => {
        const turn = () => {
          clearTimeout(timer);
          resolve(giveBack);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(turn), 1);
          resolve(undefined);
        }, patienceMs);
        waiting.push(turn);
      });
    },
  };
}
