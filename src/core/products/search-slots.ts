/** Lets only so many of a kind run at the same time; the others wait for their turn, first come, first served. */
export interface Slots {
  /** @returns what gives the slot back; `undefined`: there was none within `patienceMs`. */
  take(patienceMs: number): Promise<(() => void) | undefined>;
}

export function createSlots(count: number): Slots {
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
