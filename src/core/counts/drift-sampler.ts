import type { Sql } from '../database/database.ts';
import { checkCounts, type WrongCount } from './check-counts.ts';

export interface DriftSampler {
  /** Checks the next few products and tells which of them are wrong. @throws CoreError `unavailable`. */
  step(): Promise<WrongCount[]>;
  /** Products found wrong in the last full round, or in the one under way once there are more. */
  drift(): number;
}

/** Few enough that nobody notices: some milliseconds of one connection. */
const PRODUCTS_A_STEP = 200;

/** Goes round all products, a few at a time, for a server that watches its own counts. */
export function createDriftSampler(sql: Sql, productsAStep = PRODUCTS_A_STEP): DriftSampler {
  let after = '';
  let lastRound = 0;
  let thisRound = 0;
  return {
    async step() {
      const { wrong, next } = await checkCounts(sql, { after, limit: productsAStep });
      after = next ?? '';
      thisRound += wrong.length;
      if (next === null) {
        lastRound = thisRound;
        thisRound = 0;
      }
      return wrong;
    },
    drift: () => Math.max(lastRound, thisRound),
  };
}
