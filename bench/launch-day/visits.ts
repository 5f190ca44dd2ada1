import { type Random, randomFrom } from '../seed/random.ts';

/** Factor by which the simulation is faster than real time, for arrivals and for the pauses between steps. */
export const SPEEDUP = 12;

/** A part of the run with a constant rate of arrivals. */
export interface Phase {
  name: string;
  perSecond: number;
  seconds: number;
}

export interface Catalogue {
  /** The ids of the products of the launch day, most popular first. */
  launches: readonly string[];
  /** The ids of the other products. */
  older: readonly string[];
  /** Words of the products, roughly the most frequent first, for searches and comments. */
  words: readonly string[];
}

export type Action = 'home page' | 'product page' | 'search' | 'own upvotes' | 'stream' | 'upvote' | 'comment';

export interface Step {
  /** Time of the step, relative to the start of the run. */
  dueMs: number;
  /** The number of the visitor, counted from 0. */
  visitor: number;
  /** The name of the phase in which the visitor arrived. */
  phase: string;
  action: Action | 'leave';
  /** The product that the visitor picked last, or an empty string after a landing on the home page. */
  productId: string;
  /** The search term or the comment, or an empty string. */
  text: string;
}

/** Probabilities of the actions after the first page. In the remaining cases, the visitor opens the home page again. */
const ACTION_PROBABILITIES = { 'product page': 0.45, search: 0.2, upvote: 0.25, comment: 0.06 } as const;
const HOME_LANDING_PROBABILITY = 0.7;
/** Probability that a visitor picks a launch of the day instead of an older product. */
const LAUNCH_PROBABILITY = 0.8;
const CONTINUE_PROBABILITY = 0.8;
const MAX_STEPS = 12;
/** The mean time between two steps in real time, before `SPEEDUP` is applied. */
const MEAN_PAUSE_MS = 18_000;
/** Time between a page request and the requests of its scripts. `SPEEDUP` does not shorten it. */
const SCRIPT_DELAY_MS = 300;
/** The burst: `times` the usual rate of arrivals, for 10% of the run. */
const BURST = { times: 10, from: 0.4, share: 0.1 } as const;
const COMMENT_WORDS = 12;

/** Returns the phases of a launch day: a constant rate of arrivals, interrupted by one burst. */
export function launchDay(perSecond: number, seconds: number): Phase[] {
  const after = 1 - BURST.from - BURST.share;
  return [
    { name: 'before', perSecond, seconds: BURST.from * seconds },
    { name: 'burst', perSecond: BURST.times * perSecond, seconds: BURST.share * seconds },
    { name: 'after', perSecond, seconds: after * seconds },
  ];
}

/**
 * Plans the steps of all visitors until the end of the last phase, sorted by time. Visitors arrive independently of
 * each other (a Poisson process).
 */
export function planVisits(phases: readonly Phase[], catalogue: Catalogue, seed: number): Step[] {
  const random = randomFrom(seed);
  const steps: Step[] = [];
  const visit = visitPlanner(catalogue, random);
  let begin = 0;
  let visitor = 0;
  for (const { name, perSecond, seconds } of phases) {
    const end = begin + seconds * 1_000;
    for (let at = begin + exponential(random, 1_000 / perSecond); at < end; ) {
      steps.push(...visit({ visitor, phase: name, dueMs: at }));
      visitor += 1;
      at += exponential(random, 1_000 / perSecond);
    }
    begin = end;
  }
  return steps.filter(({ dueMs }) => dueMs < begin).sort((one, other) => one.dueMs - other.dueMs);
}

function visitPlanner({ launches, older, words }: Catalogue, random: Random) {
  const anyOf = (list: readonly string[]) => list[random.below(list.length)] ?? '';
  // Squaring makes items at the beginning of the list more likely.
  const pick = (list: readonly string[]) => list[Math.floor(list.length * random.next() ** 2)] ?? '';
  const anyProduct = () => (random.chance(LAUNCH_PROBABILITY) ? pick(launches) : anyOf(older));

  return (arrival: Pick<Step, 'visitor' | 'phase' | 'dueMs'>): Step[] => {
    let { dueMs } = arrival;
    let productId = random.chance(HOME_LANDING_PROBABILITY) ? '' : anyProduct();
    const step = (action: Step['action'], more: Partial<Step> = {}): Step => {
      return { ...arrival, dueMs, action, productId, text: '', ...more };
    };
    const afterScripts = arrival.dueMs + SCRIPT_DELAY_MS;
    const steps = [
      step(productId === '' ? 'home page' : 'product page'),
      step('own upvotes', { dueMs: afterScripts }),
      step('stream', { dueMs: afterScripts }),
    ];
    for (let count = 1; count <= MAX_STEPS && random.chance(CONTINUE_PROBABILITY); count += 1) {
      dueMs += SCRIPT_DELAY_MS + exponential(random, MEAN_PAUSE_MS / SPEEDUP);
      const action = chooseAction(random);
      // Upvotes and comments are for the product that the visitor picked last.
      if (action === 'product page' || productId === '') productId = anyProduct();
      steps.push(step(action, { text: textFor(action) }));
    }
    dueMs += SCRIPT_DELAY_MS + exponential(random, MEAN_PAUSE_MS / SPEEDUP);
    return [...steps, step('leave')];
  };

  function textFor(action: Action): string {
    if (action === 'search') return pick(words);
    // Random words make each comment distinct, because the site would hold repeated comments for review.
    if (action === 'comment') return Array.from({ length: COMMENT_WORDS }, () => anyOf(words)).join(' ');
    return '';
  }
}

function chooseAction(random: Random): Action {
  let left = random.next();
  for (const [action, share] of Object.entries(ACTION_PROBABILITIES)) {
    left -= share;
    if (left < 0) return action as Action;
  }
  return 'home page';
}

function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean;
}
