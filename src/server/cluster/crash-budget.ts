/** How often and how soon crashed processes are replaced. */
export interface CrashBudget {
  /** Counts a crash. @returns after how many milliseconds to replace the process; undefined: not any more. */
  crashed(): number | undefined;
}

const WINDOW_MS = 5 * 60_000;
const MOST_IN_WINDOW = 20;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;

/**
 * The first crash is made good at once, and each further one within five minutes after twice the time: what crashes again and
 * again should neither eat the machine nor fill the log. After twenty, something is broken that no new process mends.
 */
export function createCrashBudget(now: () => number = () => performance.now()): CrashBudget {
  let crashes: number[] = [];
  return {
    crashed() {
      const moment = now();
      crashes = [...crashes.filter((past) => moment - past < WINDOW_MS), moment];
      if (crashes.length > MOST_IN_WINDOW) return undefined;
      return Math.min(FIRST_DELAY_MS * 2 ** (crashes.length - 1), LONGEST_DELAY_MS);
    },
  };
}
